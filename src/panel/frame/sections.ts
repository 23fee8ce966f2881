import {
  Activity,
  BadgeCheck,
  Bot,
  Brain,
  Building2,
  Cable,
  ChartColumn,
  Coins,
  Eraser,
  FolderOpen,
  HeartPulse,
  Hourglass,
  type IconNode,
  KeyRound,
  LayoutDashboard,
  Mail,
  MessagesSquare,
  Plug,
  ScrollText,
  ShieldCheck,
  SlidersHorizontal,
  Sparkles,
  UserRound,
  UserRoundCog,
  Users,
} from "lucide";
import type { ComponentType } from "preact";
import type { SectionProps } from "../data/route.ts";
import { type Feature, isServed, may, type Permission } from "../data/session.ts";
import { lazilyPage } from "../ui/waiting.tsx";

const loads = {
  overview: async () => (await import("../pages/overview/overview.tsx")).OverviewPage,
  agents: async () => (await import("../pages/agents/agents.tsx")).AgentsSection,
  conversations: async () => (await import("../pages/conversations/conversations.tsx")).ConversationsSection,
  approvals: async () => (await import("../pages/approvals.tsx")).ApprovalsPage,
  activity: async () => (await import("../pages/activity/activity.tsx")).ActivityPage,
  memories: async () => (await import("../pages/memories/memories.tsx")).MemoriesPage,
  skills: async () => (await import("../pages/skills/skills.tsx")).SkillsSection,
  plugins: async () => (await import("../pages/plugins/plugins.tsx")).PluginsPage,
  members: async () => (await import("../pages/organization/members.tsx")).MembersPage,
  roles: async () => (await import("../pages/organization/roles.tsx")).RolesPage,
  workspaces: async () => (await import("../pages/organization/workspaces.tsx")).WorkspacesPage,
  prices: async () => (await import("../pages/prices/prices.tsx")).PricesPage,
  providers: async () => (await import("../pages/providers/providers.tsx")).ProvidersPage,
  usage: async () => (await import("../pages/usage/usage.tsx")).UsagePage,
  "audit-log": async () => (await import("../pages/audit/audit.tsx")).AuditPage,
  keys: async () => (await import("../pages/organization/keys.tsx")).KeysPage,
  organization: async () => (await import("../pages/organization/organization.tsx")).OrganizationPage,
  erasures: async () => (await import("../pages/organization/erasures.tsx")).ErasuresPage,
  retention: async () => (await import("../pages/organization/retention.tsx")).RetentionPage,
  users: async () => (await import("../pages/users/users.tsx")).UsersPage,
  health: async () => (await import("../pages/health/health.tsx")).HealthPage,
  "mail-relay": async () => (await import("../pages/installation/mail-relay.tsx")).MailRelayPage,
  policies: async () => (await import("../pages/installation/policies.tsx")).PoliciesPage,
  account: async () => (await import("../pages/account/account.tsx")).AccountPage,
} satisfies Record<string, () => Promise<ComponentType<SectionProps>>>;

/** The page of each section, loaded when first opened. */
export const pages = Object.fromEntries(
  Object.entries(loads).map(([name, load]) => [name, lazilyPage(load)]),
) as Record<keyof typeof loads, ComponentType<SectionProps>>;

export interface Section {
  /** The first part of the section's addresses. */
  name: keyof typeof pages;
  title: string;
  icon: IconNode;
  /** The permission to see the section; null: none is needed. */
  needs: Permission | null;
  /** The feature of the managed edition that the section belongs to; absent for a section of both editions. */
  feature?: Feature;
}

/** The navigation: groups of sections. The first section is the start page. */
export const groups: readonly { title: string | null; sections: readonly Section[] }[] = [
  {
    title: null,
    sections: [
      { name: "overview", title: "Overview", icon: LayoutDashboard, needs: "analytics:read" },
      { name: "agents", title: "Agents", icon: Bot, needs: "agent:read" },
      { name: "conversations", title: "Conversations", icon: MessagesSquare, needs: "conversation:read" },
      { name: "approvals", title: "Approvals", icon: ShieldCheck, needs: "conversation:read" },
      { name: "activity", title: "Activity", icon: Activity, needs: "conversation:read" },
      { name: "memories", title: "Memories", icon: Brain, needs: "memory:read" },
    ],
  },
  {
    title: "Build",
    sections: [
      { name: "skills", title: "Skills", icon: Sparkles, needs: "skill.catalog:read" },
      { name: "plugins", title: "Plugins", icon: Plug, needs: "org.plugin:manage" },
    ],
  },
  {
    title: "Organization",
    sections: [
      { name: "members", title: "Members", icon: Users, needs: "org:read" },
      { name: "roles", title: "Roles", icon: BadgeCheck, needs: "org:read", feature: "administration" },
      { name: "workspaces", title: "Workspaces", icon: FolderOpen, needs: "org:read" },
      { name: "providers", title: "Providers", icon: Cable, needs: "org.secret:read", feature: "providers" },
      { name: "usage", title: "Usage", icon: ChartColumn, needs: "analytics:read" },
      { name: "prices", title: "Prices", icon: Coins, needs: "org:read", feature: "providers" },
      { name: "audit-log", title: "Audit log", icon: ScrollText, needs: "audit_log:read" },
      { name: "keys", title: "Management keys", icon: KeyRound, needs: "org.key:manage" },
      { name: "retention", title: "Retention", icon: Hourglass, needs: "org:write", feature: "administration" },
      { name: "erasures", title: "Erasure", icon: Eraser, needs: "org:write", feature: "administration" },
      { name: "organization", title: "Organization", icon: Building2, needs: "org:read" },
    ],
  },
  {
    title: "Installation",
    sections: [
      { name: "health", title: "Health", icon: HeartPulse, needs: "policy:manage" },
      { name: "users", title: "Users", icon: UserRoundCog, needs: "policy:manage", feature: "administration" },
      { name: "policies", title: "Policies", icon: SlidersHorizontal, needs: "policy:manage" },
      { name: "mail-relay", title: "Mail relay", icon: Mail, needs: "policy:manage", feature: "administration" },
    ],
  },
];

/** The account section, opened by the person's name. */
export const accountSection: Section = { name: "account", title: "Your account", icon: UserRound, needs: null };

/** The navigation of the signed-in person. */
export const reachableGroups = () =>
  groups
    .map(({ title, sections }) => ({
      title,
      sections: sections.filter((section) => isServed(section) && (section.needs === null || may(section.needs))),
    }))
    .filter(({ sections }) => sections.length > 0);
