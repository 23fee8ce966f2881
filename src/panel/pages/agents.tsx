import type { Instance } from "../../client/index.ts";
import { api } from "../data/api.ts";
import { useLoaded } from "../data/load.ts";
import { hrefOf } from "../data/route.ts";
import { Empty } from "../ui/empty.tsx";
import { LinkRow } from "../ui/link-row.tsx";
import { Failure } from "../ui/note.tsx";
import { Page } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { Waiting } from "../ui/waiting.tsx";

const newAgent = (
  <a class="button primary" href={hrefOf(["agents", "new"])}>
    New agent
  </a>
);

export function AgentsPage() {
  const { value, error, reload } = useLoaded(async () => (await api.listAgents()).instances, []);
  const agents = value.value;
  return (
    <Page title="Agents" actions={agents && agents.length > 0 ? newAgent : undefined}>
      <Failure error={error.value} retry={reload} />
      {!agents && error.value === undefined && <Waiting />}
      {agents?.length === 0 && (
        <Empty title="No agents yet">
          <p>An agent has a prompt, a model and tools, and answers through any chat-completions client.</p>
          {newAgent}
        </Empty>
      )}
      {agents && agents.length > 0 && <AgentTable agents={agents} />}
    </Page>
  );
}

const AgentTable = ({ agents }: { agents: readonly Instance[] }) => (
  <div class="table-frame">
    <table class="table">
      <thead>
        <tr>
          <th>Agent</th>
          <th>Model</th>
          <th>State</th>
          <th class="end">Changed</th>
        </tr>
      </thead>
      <tbody>
        {agents.map(({ slug, name, provider, model, active, webEnabled, updatedAt }) => (
          <LinkRow key={slug} path={["agents", slug]} title={name} about={<code>{slug}</code>}>
            <td>
              {[provider, model].filter((part) => part !== null).join(" · ") || <span class="soft">default</span>}
            </td>
            <td>
              {!active ? (
                <span class="badge">inactive</span>
              ) : webEnabled ? (
                <span class="badge good">answers</span>
              ) : (
                <span class="badge warn">Web off</span>
              )}
            </td>
            <td class="end">
              <Time at={updatedAt} />
            </td>
          </LinkRow>
        ))}
      </tbody>
    </table>
  </div>
);
