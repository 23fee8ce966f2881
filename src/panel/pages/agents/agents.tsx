import type { Instance } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useLoaded } from "../../data/load.ts";
import { hrefOf } from "../../data/route.ts";
import { Allowed } from "../../ui/allowed.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Filtered } from "../../ui/form/filtered.tsx";
import { Failure } from "../../ui/note.tsx";
import { Page } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { Waiting } from "../../ui/waiting.tsx";
import { AgentIcon } from "./icon.tsx";
import { ImportAgent } from "./import-agent.tsx";
import { State } from "./state.tsx";

const newAgent = (
  <Allowed to="agent:write">
    <a class="button primary" href={hrefOf(["agents", "~new"])}>
      New agent
    </a>
  </Allowed>
);

export function AgentsPage() {
  const { value, error, reload } = useLoaded(async () => (await api.listAgents()).instances, []);
  const agents = value.value;
  return (
    <Page
      title="Agents"
      actions={
        <Allowed to="agent:write">
          <div class="actions">
            <ImportAgent label="Import" send={(body) => api.importAgent({ body })} onImported={reload} />
            {agents?.length !== 0 && newAgent}
          </div>
        </Allowed>
      }
    >
      <Failure error={error.value} retry={reload} />
      {!agents && error.value === undefined && <Waiting />}
      {agents?.length === 0 && (
        <Empty title="No agents yet">
          <p>An agent has a prompt, a model and tools, and answers through any chat-completions client.</p>
          {newAgent}
        </Empty>
      )}
      {agents && agents.length > 0 && (
        <Filtered items={agents} textsOf={wordsOf} none="No agent has these words in its name or description.">
          {(found) => <AgentTable agents={found} />}
        </Filtered>
      )}
    </Page>
  );
}

const wordsOf = ({ name, slug, description, provider, model }: Instance) =>
  [name, slug, description, provider, model].filter((text) => text !== null);

const AgentTable = ({ agents }: { agents: readonly Instance[] }) => (
  <Table
    label="Agents"
    rows={agents}
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
