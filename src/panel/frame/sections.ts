import {
  Activity,
  Bot,
  Brain,
  Building2,
  ChartColumn,
  FolderOpen,
  HeartPulse,
  type IconNode,
  KeyRound,
  LayoutDashboard,
  MessagesSquare,
  Plug,
  ScrollText,
  ShieldCheck,
  SlidersHorizontal,
  Sparkles,
  UserRound,
  Users,
} from "lucide";
import type { ComponentType } from "preact";
import type { SectionProps } from "../data/route.ts";
import { may, type Permission } from "../data/session.ts";
import { lazilyPage } from "../ui/waiting.tsx";

export interface Section {
  /** The first part of its addresses. */
  name: string;
  title: string;
  icon: IconNode;
  /** Those without it don't see the section; null: all do. */
  needs: Permission | null;
  page: ComponentType<SectionProps>;
}

/** The navigation: groups of sections. Each is loaded when it is first opened; the first section is the first page. */
export const groups: readonly { title: string | null; sections: readonly Section[] }[] = [
  {
    title: null,
    sections: [
      {
        name: "overview",
        title: "Overview",
        icon: LayoutDashboard,
        needs: "analytics:read",
        page: lazilyPage(async () => (await import("../pages/overview/overview.tsx")).OverviewPage),
      },
      {
        name: "agents",
        title: "Agents",
        icon: Bot,
        needs: "agent:read",
        page: lazilyPage(async () => (await import("../pages/agents/agents.tsx")).AgentsSection),
      },
      {
        name: "conversations",
        title: "Conversations",
        icon: MessagesSquare,
        needs: "conversation:read",
        page: lazilyPage(async () => (await import("../pages/conversations/conversations.tsx")).ConversationsSection),
      },
      {
        name: "approvals",
        title: "Approvals",
        icon: ShieldCheck,
        needs: "conversation:read",
        page: lazilyPage(async () => (await import("../pages/approvals.tsx")).ApprovalsPage),
      },
      {
        name: "activity",
        title: "Activity",
        icon: Activity,
        needs: "conversation:read",
        page: lazilyPage(async () => (await import("../pages/activity/activity.tsx")).ActivityPage),
      },
      {
        name: "memories",
        title: "Memories",
        icon: Brain,
        needs: "memory:read",
        page: lazilyPage(async () => (await import("../pages/memories/memories.tsx")).MemoriesPage),
      },
    ],
  },
  {
    title: "Build",
    sections: [
      {
        name: "skills",
        title: "Skills",
        icon: Sparkles,
        needs: "skill.catalog:read",
        page: lazilyPage(async () => (await import("../pages/skills/skills.tsx")).SkillsSection),
      },
      {
        name: "plugins",
        title: "Plugins",
        icon: Plug,
        needs: "org.plugin:manage",
        page: lazilyPage(async () => (await import("../pages/plugins/plugins.tsx")).PluginsPage),
      },
    ],
  },
  {
    title: "Organization",
    sections: [
      {
        name: "members",
        title: "Members",
        icon: Users,
        needs: "org:read",
        page: lazilyPage(async () => (await import("../pages/organization/members.tsx")).MembersPage),
      },
      {
        name: "workspaces",
        title: "Workspaces",
        icon: FolderOpen,
        needs: "org:read",
        page: lazilyPage(async () => (await import("../pages/organization/workspaces.tsx")).WorkspacesPage),
      },
      {
        name: "usage",
        title: "Usage",
        icon: ChartColumn,
        needs: "analytics:read",
        page: lazilyPage(async () => (await import("../pages/usage/usage.tsx")).UsagePage),
      },
      {
        name: "audit-log",
        title: "Audit log",
        icon: ScrollText,
        needs: "audit_log:read",
        page: lazilyPage(async () => (await import("../pages/audit/audit.tsx")).AuditPage),
      },
      {
        name: "keys",
        title: "Management keys",
        icon: KeyRound,
        needs: "org.key:manage",
        page: lazilyPage(async () => (await import("../pages/organization/keys.tsx")).KeysPage),
      },
      {
        name: "organization",
        title: "Organization",
        icon: Building2,
        needs: "org:read",
        page: lazilyPage(async () => (await import("../pages/organization/organization.tsx")).OrganizationPage),
      },
    ],
  },
  {
    title: "Installation",
    sections: [
      {
        name: "health",
        title: "Health",
        icon: HeartPulse,
        needs: "policy:manage",
        page: lazilyPage(async () => (await import("../pages/health/health.tsx")).HealthPage),
      },
      {
        name: "policies",
        title: "Policies",
        icon: SlidersHorizontal,
        needs: "policy:manage",
        page: lazilyPage(async () => (await import("../pages/installation/policies.tsx")).PoliciesPage),
      },
    ],
  },
];

/** Reached by the person's own name. */
export const accountSection: Section = {
  name: "account",
  title: "Your account",
  icon: UserRound,
  needs: null,
  page: lazilyPage(async () => (await import("../pages/account/account.tsx")).AccountPage),
};

/** The navigation of the signed-in person. */
export const reachableGroups = () =>
  groups
    .map(({ title, sections }) => ({ title, sections: sections.filter(({ needs }) => needs === null || may(needs)) }))
    .filter(({ sections }) => sections.length > 0);
