import { Bot, type IconNode, MessagesSquare, ShieldCheck } from "lucide";
import type { ComponentType } from "preact";
import { lazy } from "preact/compat";
import type { SectionProps } from "../data/route.ts";
import { may, type Permission } from "../data/session.ts";

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
        name: "agents",
        title: "Agents",
        icon: Bot,
        needs: "agent:read",
        page: lazily(async () => (await import("../pages/agents/section.tsx")).AgentsSection),
      },
      {
        name: "conversations",
        title: "Conversations",
        icon: MessagesSquare,
        needs: "conversation:read",
        page: lazily(async () => (await import("../pages/conversations/section.tsx")).ConversationsSection),
      },
      {
        name: "approvals",
        title: "Approvals",
        icon: ShieldCheck,
        needs: "conversation:read",
        page: lazily(async () => (await import("../pages/approvals.tsx")).ApprovalsPage),
      },
    ],
  },
];

/** The navigation of the signed-in person. */
export const reachableGroups = () =>
  groups
    .map(({ title, sections }) => ({ title, sections: sections.filter(({ needs }) => needs === null || may(needs)) }))
    .filter(({ sections }) => sections.length > 0);

function lazily(load: () => Promise<ComponentType<SectionProps>>): ComponentType<SectionProps> {
  return lazy(async () => ({ default: await load() }));
}
