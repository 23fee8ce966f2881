import { useComputed } from "@preact/signals";
import type { Instance } from "../../../client/index.ts";
import { api, isRefused } from "../../data/api.ts";
import { useLoaded } from "../../data/load.ts";
import { hrefOf } from "../../data/route.ts";
import { Failure } from "../../ui/note.tsx";
import { Page } from "../../ui/page.tsx";
import { Waiting } from "../../ui/waiting.tsx";
import { NotFoundPage } from "../not-found.tsx";
import { Playground } from "../playground/playground.tsx";
import { Access } from "./access.tsx";
import { PromptsTab } from "./prompts.tsx";
import { Settings } from "./settings.tsx";
import { Tools } from "./tools.tsx";

const tabs = [
  { path: [], title: "Playground" },
  { path: ["settings"], title: "Settings" },
  { path: ["prompts"], title: "Prompts" },
  { path: ["tools"], title: "Tools" },
  { path: ["access"], title: "Access" },
] as const;

interface Props {
  slug: string;
  tab: string | undefined;
}

/** An agent, a tab for each part of it. */
export function AgentPage({ slug, tab }: Props) {
  const { value, error, reload } = useLoaded(async () => (await api.getAgent({ slug })).instance, [slug]);
  const agent = useComputed(() => (value.value?.slug === slug ? value.value : undefined)).value;
  if (isRefused(error.value, 404)) return <NotFoundPage />;
  return (
    <Page title={agent?.name ?? slug} lead={agent?.description || undefined} actions={agent && <State agent={agent} />}>
      <nav class="tabs" aria-label="Parts of the agent">
        {tabs.map(({ path, title }) => (
          <a key={title} href={hrefOf(["agents", slug, ...path])} aria-current={path[0] === tab ? "page" : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <Failure error={error.value} retry={reload} />
      {!agent && error.value === undefined && <Waiting />}
      {agent && <Tab agent={agent} tab={tab} onChange={reload} />}
    </Page>
  );
}

const State = ({ agent: { active, webEnabled } }: { agent: Instance }) => (
  <span class={`badge ${active ? (webEnabled ? "good" : "warn") : ""}`}>
    {active ? (webEnabled ? "answers" : "Web off") : "inactive"}
  </span>
);

function Tab({ agent, tab, onChange }: { agent: Instance; tab: string | undefined; onChange: () => void }) {
  switch (tab) {
    case undefined:
      return <Playground key={agent.slug} agent={agent} />;
    case "settings":
      return <Settings key={agent.slug} agent={agent} onChange={onChange} />;
    case "prompts":
      return <PromptsTab key={agent.slug} slug={agent.slug} />;
    case "tools":
      return <Tools key={agent.slug} slug={agent.slug} />;
    case "access":
      return <Access key={agent.slug} agent={agent} onChange={onChange} />;
    default:
      return <p>An agent has no such part.</p>;
  }
}
