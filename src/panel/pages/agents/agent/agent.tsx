import { useComputed } from "@preact/signals";
import type { ComponentType } from "preact";
import { Suspense } from "preact/compat";
import { api, isRefused } from "../../../data/api.ts";
import { useLoaded } from "../../../data/list/load.ts";
import { type Feature, isServed, may, type Permission } from "../../../data/session.ts";
import { Failure } from "../../../ui/note.tsx";
import { Page } from "../../../ui/page.tsx";
import { Tabs } from "../../../ui/tabs.tsx";
import { lazily, Waiting } from "../../../ui/waiting.tsx";
import { NotFoundPage, Refusal } from "../../missing.tsx";
import { State } from "../look.tsx";
import { Playground } from "../playground/playground.tsx";
import type { TabProps } from "./tab-props.ts";

interface Tab {
  /** The name after the slug in the address; undefined: the agent's first page. */
  name: string | undefined;
  title: string;
  /** The permission to see the tab. */
  needs: Permission;
  view: ComponentType<TabProps>;
  /** The feature of the managed edition that the tab belongs to; absent for a tab of both editions. */
  feature?: Feature;
}

/** A tab, loaded when first opened. */
const tab = (name: string, title: string, needs: Permission, load: () => Promise<Tab["view"]>): Tab => ({
  name,
  title,
  needs,
  view: lazily(load),
});

const tabs: readonly Tab[] = [
  { name: undefined, title: "Playground", needs: "agent.playground:use", view: Playground },
  tab("settings", "Settings", "agent:read", async () => (await import("./settings/settings.tsx")).Settings),
  {
    ...tab("models", "Models", "agent:read", async () => (await import("./models/models.tsx")).Models),
    feature: "providers",
  },
  tab("prompts", "Prompts", "agent.prompt:read", async () => (await import("./prompts.tsx")).PromptsTab),
  tab("tools", "Tools", "agent.tool:read", async () => (await import("./tools.tsx")).Tools),
  tab("skills", "Skills", "agent.skill:read", async () => (await import("./skills/skills.tsx")).Skills),
  tab("secrets", "Secrets", "agent.secret:read", async () => (await import("./secrets.tsx")).Secrets),
  tab("channels", "Channels", "agent.channel:read", async () => (await import("./channels/channels.tsx")).Channels),
  tab("room", "Room", "agent.room:read", async () => (await import("./room/room.tsx")).RoomTab),
  tab("tasks", "Tasks", "agent.task:read", async () => (await import("./tasks/tasks.tsx")).Tasks),
  tab("hooks", "Hooks", "agent.governance:read", async () => (await import("./hooks/hooks.tsx")).Hooks),
];

interface Props {
  slug: string;
  tab: string | undefined;
  rest: readonly string[];
}

/** An agent, with a tab for each part of it. */
export function AgentPage({ slug, tab: name, rest }: Props) {
  // Read again for each tab, since changes in other tabs make new revisions.
  const { value, error, reload } = useLoaded(async () => (await api.getAgent({ slug })).instance, [slug, name]);
  const agent = useComputed(() => (value.value?.slug === slug ? value.value : undefined)).value;
  const chosen = tabs.find((tab) => tab.name === name && isServed(tab));
  if (chosen === undefined || isRefused(error.value, 404)) return <NotFoundPage />;
  return (
    <Page title={agent?.name ?? slug} lead={agent?.description || undefined} actions={agent && <State agent={agent} />}>
      <Tabs
        label="Parts of the agent"
        path={["agents", slug]}
        current={name}
        tabs={tabs.filter((tab) => isServed(tab) && may(tab.needs))}
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
