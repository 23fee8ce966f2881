import type { Instance } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useList } from "../../data/list/list.ts";
import type { SectionProps } from "../../data/route.ts";
import { may } from "../../data/session.ts";
import { Allowed } from "../../ui/allowed.tsx";
import { ListPage } from "../../ui/list/list.tsx";
import { Time } from "../../ui/text/time.tsx";
import { RefusedPage } from "../missing.tsx";
import { AgentPage } from "./agent/agent.tsx";
import { ImportAgent } from "./import-agent.tsx";
import { AgentIcon, NewAgentLink, State } from "./look.tsx";
import { NewAgentPage } from "./new-agent.tsx";

function AgentsPage() {
  const agents = useList("instances", () => api.listAgents(), []);
  return (
    <ListPage
      title="Agents"
      of={agents}
      extra={
        <Allowed to="agent:write">
          <ImportAgent label="Import" send={(body) => api.importAgent({ body })} onImported={agents.reload} />
        </Allowed>
      }
      add={<NewAgentLink />}
      empty={[
        "No agents yet",
        "An agent has a prompt, a model and tools, and answers through any chat-completions client.",
      ]}
      search={{ textsOf, none: "No agent has these words in its name or description." }}
      label="Agents"
      keyOf={({ slug }) => slug}
      pathOf={({ slug }) => ["agents", slug]}
      about={({ slug }) => <code>{slug}</code>}
      columns={[
        {
          title: "Agent",
          cell: (agent) => (
            <>
              <AgentIcon agent={agent} />
              {agent.name}
            </>
          ),
        },
        {
          title: "Model",
          cell: ({ provider, model }) =>
            [provider, model].filter((part) => part !== null).join(" · ") || <span class="soft">default</span>,
        },
        { title: "State", cell: (agent) => <State agent={agent} /> },
        { title: "Changed", end: true, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
      ]}
    />
  );
}

const textsOf = ({ name, slug, description, provider, model }: Instance) =>
  [name, slug, description, provider, model].filter((text) => text !== null);

/** `agents`, `agents/~new` (never a slug), and `agents/{slug}/{tab}/…`. */
export function AgentsSection({ rest: [slug, tab, ...parts] }: SectionProps) {
  if (slug === undefined) return <AgentsPage />;
  if (slug !== "~new") return <AgentPage key={slug} slug={slug} tab={tab} rest={parts} />;
  return may("agent:write") ? <NewAgentPage /> : <RefusedPage title="New agent" needs="agent:write" />;
}
