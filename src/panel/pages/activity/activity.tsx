import { useSignal } from "@preact/signals";
import type { ActivityEvent } from "../../../client/index.ts";
import { agentChoices, useAgents } from "../../data/agents.ts";
import { filtersOf } from "../../data/list/filters.ts";
import { useLive } from "../../data/live.ts";
import { Button } from "../../ui/button.tsx";
import { Filters } from "../../ui/list/filters.tsx";
import { Empty } from "../../ui/list/when-loaded.tsx";
import { LiveBadge } from "../../ui/live-badge.tsx";
import { Page } from "../../ui/page.tsx";
import { ActivityLine } from "./activity-line.tsx";
import { noLines, released, withEvent } from "./lines.ts";

const categories = [
  { value: "message", label: "Messages" },
  { value: "tool", label: "Tools" },
  { value: "memory", label: "Memories" },
  { value: "work", label: "Tasks and webhooks" },
  { value: "agent", label: "Agents that ask agents" },
  { value: "conversation", label: "Conversations" },
  { value: "governance", label: "Approvals and refusals" },
];

/** The live activity of agents. The address contains the filters. */
export function ActivityPage() {
  const filters = filtersOf("activity", ["agent", "category"]);
  const { agent, category } = filters.values;
  const agents = useAgents();
  const paused = useSignal(false);
  const lines = useSignal(noLines);
  const state = useLive(({ event, data }) => {
    if (event === "message") lines.value = withEvent(lines.value, data, paused.value);
  });
  const turn = () => {
    paused.value = !paused.value;
    if (!paused.value) lines.value = released(lines.value);
  };
  const isWanted = (event: ActivityEvent) =>
    (agent === "" || event.instance.slug === agent) && (category === "" || event.category === category);
  const shown = lines.value.shown.filter(isWanted);
  const waiting = lines.value.held.filter(isWanted).length;
  return (
    <Page
      title="Activity"
      lead="What agents do at this moment, and the last that happened before."
      actions={
        <div class="actions">
          <LiveBadge state={state.value} />
          <Button onClick={turn}>{paused.value ? `Go on${waiting > 0 ? ` (${waiting} new)` : ""}` : "Pause"}</Button>
        </div>
      }
    >
      <Filters
        of={filters}
        fields={[
          { name: "agent", label: "Agent", kind: "choice", all: "All agents", choices: agentChoices(agents) },
          { name: "category", label: "What", kind: "choice", all: "Everything", choices: categories },
        ]}
      />
      {shown.length === 0 ? (
        <Empty title="Nothing happens">
          <p>As soon as somebody writes to an agent, or an agent does something of its own, it is here.</p>
        </Empty>
      ) : (
        <ol class="activity" aria-label="What happened, the newest first">
          {shown.map((event) => (
            <ActivityLine key={event.id} event={event} />
          ))}
        </ol>
      )}
    </Page>
  );
}
