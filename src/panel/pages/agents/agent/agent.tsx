import { useComputed } from "@preact/signals";
import type { ComponentType } from "preact";
import { Suspense } from "preact/compat";
import { api, isRefused } from "../../../data/api.ts";
import { useLoaded } from "../../../data/load.ts";
import { may, type Permission } from "../../../data/session.ts";
import { Failure } from "../../../ui/note.tsx";
import { Page } from "../../../ui/page.tsx";
import { Tabs } from "../../../ui/tabs.tsx";
import { lazily, Waiting } from "../../../ui/waiting.tsx";
import { NotFoundPage } from "../../not-found.tsx";
import { Refusal } from "../../refused.tsx";
import { Playground } from "../playground/playground.tsx";
import { State } from "../state.tsx";
import type { TabProps } from "./tab-props.ts";

interface Tab {
  /** Behind the slug in the address; undefined: the agent's first page. */
  name: string | undefined;
  title: string;
  /** Those without it don't see the tab. */
  needs: Permission;
  view: ComponentType<TabProps>;
}

const tabs: readonly Tab[] = [
  { name: undefined, title: "Playground", needs: "agent.playground:use", view: Playground },
  {
    name: "settings",
    title: "Settings",
    needs: "agent:read",
    view: lazily(async () => (await import("./settings/settings.tsx")).Settings),
  },
  {
    name: "prompts",
    title: "Prompts",
    needs: "agent.prompt:read",
    view: lazily(async () => (await import("./prompts.tsx")).PromptsTab),
  },
  {
    name: "tools",
    title: "Tools",
    needs: "agent.tool:read",
    view: lazily(async () => (await import("./tools.tsx")).Tools),
  },
  {
    name: "skills",
    title: "Skills",
    needs: "agent.skill:read",
    view: lazily(async () => (await import("./skills/skills.tsx")).Skills),
  },
  {
    name: "secrets",
    title: "Secrets",
    needs: "agent.secret:read",
    view: lazily(async () => (await import("./secrets.tsx")).Secrets),
  },
  {
    name: "channels",
    title: "Channels",
    needs: "agent.channel:read",
    view: lazily(async () => (await import("./channels/channels.tsx")).Channels),
  },
  {
    name: "room",
    title: "Room",
    needs: "agent.room:read",
    view: lazily(async () => (await import("./room/room.tsx")).RoomTab),
  },
  {
    name: "tasks",
    title: "Tasks",
    needs: "agent.task:read",
    view: lazily(async () => (await import("./tasks/tasks.tsx")).Tasks),
  },
  {
    name: "hooks",
    title: "Hooks",
    needs: "agent.governance:read",
    view: lazily(async () => (await import("./hooks/hooks.tsx")).Hooks),
  },
];

interface Props {
  slug: string;
  tab: string | undefined;
  rest: readonly string[];
}

/** An agent, a tab for each part of it. */
export function AgentPage({ slug, tab, rest }: Props) {
  // Read again with each tab: what other tabs change gives the agent another revision.
  const { value, error, reload } = useLoaded(async () => (await api.getAgent({ slug })).instance, [slug, tab]);
  const agent = useComputed(() => (value.value?.slug === slug ? value.value : undefined)).value;
  const chosen = tabs.find(({ name }) => name === tab);
  if (chosen === undefined || isRefused(error.value, 404)) return <NotFoundPage />;
  return (
    <Page title={agent?.name ?? slug} lead={agent?.description || undefined} actions={agent && <State agent={agent} />}>
      <Tabs
        label="Parts of the agent"
        path={["agents", slug]}
        current={tab}
        tabs={tabs.filter(({ needs }) => may(needs))}
      />
      <Failure error={error.value} retry={reload} />
      {!agent && error.value === undefined && <Waiting />}
      {agent && !may(chosen.needs) && <Refusal needs={chosen.needs} />}
      {agent && may(chosen.needs) && (
        <Suspense fallback={<Waiting />}>
          <chosen.view key={chosen.title} agent={agent} rest={rest} onChange={reload} />
        </Suspense>
      )}
    </Page>
  );
}
