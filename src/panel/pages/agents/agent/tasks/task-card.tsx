import { useSignal } from "@preact/signals";
import type { ScheduledTask } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { useActs } from "../../../../ui/act-button.tsx";
import { Allowed } from "../../../../ui/allowed.tsx";
import { Button } from "../../../../ui/button.tsx";
import { Card } from "../../../../ui/card.tsx";
import { DeleteButton } from "../../../../ui/dialog/confirm-button.tsx";
import { endUserText } from "../../../../ui/end-user.ts";
import { Failure } from "../../../../ui/note.tsx";
import { Time } from "../../../../ui/time.tsx";
import { Runs, runLooks } from "./runs.tsx";
import { wordsOf } from "./schedule.ts";

interface Props {
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

/** A task: when it runs next, how the last run went, and what can be done about it. */
export function TaskCard({ slug, task, onEdit, onChange }: Props) {
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
