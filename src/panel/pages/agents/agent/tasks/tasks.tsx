import { useSignal } from "@preact/signals";
import type { ScheduledTask } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { useList } from "../../../../data/list/list.ts";
import { useActs } from "../../../../ui/act-button.tsx";
import { Allowed } from "../../../../ui/allowed.tsx";
import { Button } from "../../../../ui/button.tsx";
import { Card } from "../../../../ui/card.tsx";
import { DeleteButton } from "../../../../ui/dialog/buttons.tsx";
import { List } from "../../../../ui/list/list.tsx";
import { Failure } from "../../../../ui/note.tsx";
import { endUserText } from "../../../../ui/text/end-user.ts";
import { Time } from "../../../../ui/text/time.tsx";
import type { TabProps } from "../tab-props.ts";
import { Runs, runLooks } from "./runs.tsx";
import { ownZone, wordsOf } from "./schedule.ts";
import { TaskDialog } from "./task-dialog.tsx";

/** The time zone of an agent that has chosen none. */
const unchosenZone = "UTC";

/** The agent's scheduled tasks. */
export function Tasks({ agent: { slug, timezone } }: TabProps) {
  const tasks = useList("scheduledTasks", () => api.listScheduledTasks({ slug }), [slug], { everyMs: 10_000 });
  return (
    <div class="form">
      <List
        of={tasks}
        empty={["No tasks yet", "A task has the agent do something once, at times of a calendar, or every so often."]}
        add={{ label: "New task", to: "agent.task:write" }}
        dialog={(task, props) => (
          <TaskDialog slug={slug} timezone={timezone === unchosenZone ? ownZone() : timezone} task={task} {...props} />
        )}
      >
        {(items, edit) =>
          items.map((task) => (
            <TaskCard key={task.id} slug={slug} task={task} onEdit={() => edit(task)} onChange={tasks.reload} />
          ))
        }
      </List>
    </div>
  );
}

interface CardProps {
  slug: string;
  task: ScheduledTask;
  onEdit: () => void;
  onChange: () => Promise<void>;
}

function forWhom({ subject, subjectChannel, userName }: ScheduledTask): string {
  if (subjectChannel === null) return "";
  const id = endUserText(subject, subjectChannel);
  return userName === null ? ` for ${id}` : ` for ${userName}, ${id}`;
}

/** A task: its next and last run, and its actions. */
function TaskCard({ slug, task, onEdit, onChange }: CardProps) {
  const { id, name, prompt, schedule, enabled, nextRunAt, lastRun, source } = task;
  const path = { slug, id };
  const open = useSignal(false);
  const act = useActs(onChange);
  const turn = () => api.updateScheduledTask({ ...path, body: { enabled: !enabled } });
  return (
    <Card
      title={name}
      lead={
        <>
          <span class={enabled ? "badge good" : "badge"}>{enabled ? "on" : "paused"}</span> {wordsOf(schedule)}
          {source === "agent" && `, made by the agent itself${forWhom(task)}`}
        </>
      }
    >
      <p class="said">{prompt}</p>
      <p class="soft">
        {nextRunAt === null ? (
          "It is not due again. "
        ) : (
          <>
            Next run <Time at={nextRunAt} />.{" "}
          </>
        )}
        {lastRun && (
          <>
            Last run <Time at={lastRun.at} />: <span class={`badge ${runLooks[lastRun.status]}`}>{lastRun.status}</span>
          </>
        )}
      </p>
      <Failure error={act.error} />
      <div class="actions">
        <Button
          small
          aria-expanded={open.value}
          onClick={() => {
            open.value = !open.value;
          }}
        >
          {open.value ? "Hide the runs" : "Runs"}
        </Button>
        <Allowed to="agent.task:write">
          <Button
            small
            busy={act.busy}
            onClick={() => {
              open.value = true;
              void act.run(() => api.runScheduledTask(path), "It runs now");
            }}
          >
            Run now
          </Button>
          <Button small busy={act.busy} onClick={() => void act.run(turn, enabled ? "Paused" : "It goes on")}>
            {enabled ? "Pause" : "Go on"}
          </Button>
          <Button small onClick={onEdit}>
            Edit
          </Button>
          <DeleteButton small name={name} kind="task" onConfirm={() => api.deleteScheduledTask(path)} onDone={onChange}>
            Its runs are forgotten; their conversations stay.
          </DeleteButton>
        </Allowed>
      </div>
      {open.value && <Runs slug={slug} id={id} last={`${lastRun?.at} ${lastRun?.status}`} />}
    </Card>
  );
}
