import { useSignal } from "@preact/signals";
import type { ScheduledTask } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { useLoaded } from "../../../../data/load.ts";
import { useRefresh } from "../../../../data/refresh.ts";
import { Allowed } from "../../../../ui/allowed.tsx";
import { Button } from "../../../../ui/button.tsx";
import { Empty } from "../../../../ui/empty.tsx";
import { Failure } from "../../../../ui/note.tsx";
import { Waiting } from "../../../../ui/waiting.tsx";
import type { TabProps } from "../tab-props.ts";
import { ownZone } from "./schedule.ts";
import { TaskCard } from "./task-card.tsx";
import { TaskDialog } from "./task-dialog.tsx";

const everyMs = 10_000;
/** The zone of an agent for which nobody chose one. */
const unchosenZone = "UTC";

/** What the agent does at set times. */
export function Tasks({ agent: { slug, timezone } }: TabProps) {
  const { value, error, reload } = useLoaded(
    async () => (await api.listScheduledTasks({ slug })).scheduledTasks,
    [slug],
  );
  useRefresh(reload, everyMs);
  /** The task that is edited; null: a new one; undefined: none is. */
  const edited = useSignal<ScheduledTask | null | undefined>(undefined);
  const tasks = value.value;
  const add = (
    <Allowed to="agent.task:write">
      <Button
        look="primary"
        onClick={() => {
          edited.value = null;
        }}
      >
        New task
      </Button>
    </Allowed>
  );
  return (
    <div class="form">
      <Failure error={error.value} retry={reload} />
      {!tasks && error.value === undefined && <Waiting />}
      {tasks?.length === 0 && (
        <Empty title="No tasks yet">
          <p>A task has the agent do something once, at times of a calendar, or every so often.</p>
          {add}
        </Empty>
      )}
      {tasks && tasks.length > 0 && <div class="actions">{add}</div>}
      {tasks?.map((task) => (
        <TaskCard
          key={task.id}
          slug={slug}
          task={task}
          onEdit={() => {
            edited.value = task;
          }}
          onChange={reload}
        />
      ))}
      {edited.value !== undefined && (
        <TaskDialog
          slug={slug}
          timezone={timezone === unchosenZone ? ownZone() : timezone}
          task={edited.value}
          onSaved={reload}
          onClose={() => {
            edited.value = undefined;
          }}
        />
      )}
    </div>
  );
}
