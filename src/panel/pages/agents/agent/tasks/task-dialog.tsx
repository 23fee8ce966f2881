import { useRef } from "preact/hooks";
import type { NewScheduledTask, ScheduledTask } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { useForm } from "../../../../data/form.ts";
import { type DialogProps, FormDialog } from "../../../../ui/dialog/form-dialog.tsx";
import type { FieldTable } from "../../../../ui/form/table.ts";
import { tell } from "../../../../ui/toast.tsx";
import { type Outbound, outboundFields } from "../outbound.ts";
import { scheduleOf, usualSchedule, type WrittenSchedule, writtenSchedule } from "./schedule.ts";
import { scheduleFields } from "./schedule-fields.tsx";

interface Props extends DialogProps {
  slug: string;
  /** Of a new schedule. */
  timezone: string;
  /** Null: a new one. */
  task: ScheduledTask | null;
}

interface Written
  extends Outbound,
    Pick<ScheduledTask, "name" | "prompt" | "deleteAfterRun" | "maxRetries" | "onMissed"> {
  schedule: WrittenSchedule;
}

const blank = (timezone: string): Written => ({
  ...{ name: "", prompt: "", deleteAfterRun: false, maxRetries: 3, onMissed: "run" },
  ...{ outboundChannel: null, outboundTarget: null, schedule: usualSchedule(timezone) },
});

/** Makes or changes a task. */
export function TaskDialog({ slug, timezone, task, ...dialog }: Props) {
  const stored = useRef<Written>(
    task ? { ...task, schedule: writtenSchedule(task.schedule, timezone) } : blank(timezone),
  ).current;
  const form = useForm<Written>(`task.${slug}.${task?.id ?? "new"}`, stored, async (changes) => {
    const body = bodyOf(form.values);
    const schedule = scheduleOf(form.values.schedule);
    // A schedule that nobody touched stays as it is stored: the fields have no seconds, and its time may have passed.
    const timed = changes.schedule ? { schedule } : {};
    if (task) await api.updateScheduledTask({ slug, id: task.id, body: { ...body, ...timed } });
    else await api.createScheduledTask({ slug, body: { ...body, schedule } });
    tell("Saved");
  });
  const fields: FieldTable<Written> = [
    { name: "name", label: "Name", required: true, autofocus: true, placeholder: "Morning report" },
    {
      name: "prompt",
      label: "What the agent is told",
      required: true,
      hint: "It knows nothing of earlier runs.",
      kind: "area",
      rows: 4,
    },
    scheduleFields(form),
    outboundFields(form.values),
    [
      { name: "maxRetries", label: "Further tries of a run that failed", kind: "number" },
      {
        name: "onMissed",
        label: "A time that passed while nothing could run",
        kind: "choice",
        choices: [
          { value: "run", label: "is run late, the last one" },
          { value: "skip", label: "is only written down" },
        ],
      },
    ],
    { name: "deleteAfterRun", label: "Delete the task after its first run", kind: "switch" },
  ];
  const title = task ? `Edit ${task.name}` : "New task";
  return <FormDialog title={title} wide action="Save" form={form} fields={fields} {...dialog} />;
}

/** What the API takes beside the schedule. */
function bodyOf(values: Written): Omit<NewScheduledTask, "schedule"> {
  const { name, prompt, deleteAfterRun, maxRetries, onMissed, outboundChannel, outboundTarget } = values;
  return { name, prompt, deleteAfterRun, maxRetries, onMissed, outboundChannel, outboundTarget };
}
