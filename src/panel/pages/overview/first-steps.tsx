import type { Instance } from "../../../client/index.ts";
import { hrefOf } from "../../data/route.ts";
import { NewAgentLink } from "../agents/look.tsx";

/** The first steps in an installation without any activity. */
export function FirstSteps({ agents }: { agents: readonly Instance[] }) {
  const [agent] = agents;
  return (
    <section class="empty first-steps">
      <h2>{agent ? "No agent was asked lately" : "Three steps to the first reply"}</h2>
      <ol>
        <li data-done={agent !== undefined}>
          <h3>Make an agent</h3>
          <p>It needs a name and a model; the demo model answers without any key.</p>
          {!agent && <NewAgentLink />}
        </li>
        <li>
          <h3>Talk to it</h3>
          <p>The playground shows its reasoning and every call of a tool.</p>
          {agent && (
            <a class="button primary" href={hrefOf(["agents", agent.slug])}>
              Open the playground
            </a>
          )}
        </li>
        <li>
          <h3>Call it from your program</h3>
          <p>Any chat-completions client will do: it needs an address and the agent's key.</p>
          {agent && (
            <a class="button" href={hrefOf(["agents", agent.slug, "channels"])}>
              Show the first call
            </a>
          )}
        </li>
      </ol>
    </section>
  );
}
