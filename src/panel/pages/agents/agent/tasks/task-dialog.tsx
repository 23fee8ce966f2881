import { useRef } from "preact/hooks";
import type { NewScheduledTask, ScheduledTask } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { type Form, useForm } from "../../../../data/form/form.ts";
import { choicesOf } from "../../../../ui/form/choices.ts";
import { Choice } from "../../../../ui/form/field.tsx";
import { type DialogProps, type FieldTable, FormDialog, type Row } from "../../../../ui/form/form.tsx";
import { tell } from "../../../../ui/toast.tsx";
import { zone } from "../../../shared-fields.ts";
import { type Outbound, outboundFields } from "../outbound.ts";
import {
  cronWords,
  everyProblem,
  scheduleOf,
  usualSchedule,
  usualTimes,
  type WrittenSchedule,
  writtenSchedule,
} from "./schedule.ts";

interface Props extends DialogProps {
  slug: string;
  /** The time zone of a new schedule. */
  timezone: string;
  /** Null for a new task. */
  task: ScheduledTask | null;
}

interface Written
  extends Outbound,
    Pick<ScheduledTask, "name" | "prompt" | "deleteAfterRun" | "maxRetries" | "onMissed"> {
  schedule: WrittenSchedule;
}

const blank = (timezone: string): Written => ({
  name: "",
  prompt: "",
  deleteAfterRun: false,
  maxRetries: 3,
  onMissed: "run",
  outboundChannel: null,
  outboundTarget: null,
  schedule: usualSchedule(timezone),
});

/** Creates or changes a task. */
export function TaskDialog({ slug, timezone, task, ...dialog }: Props) {
  const stored = useRef<Written>(
    task ? { ...task, schedule: writtenSchedule(task.schedule, timezone) } : blank(timezone),
  ).current;
  const form = useForm<Written>(`task.${slug}.${task?.id ?? "new"}`, stored, async (changes) => {
    const body = bodyOf(form.values);
    const schedule = scheduleOf(form.values.schedule);
    // An unchanged schedule is not sent: the fields have no seconds, and its time may be past.
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
        choices: choicesOf({ run: "is run late, the last one", skip: "is only written down" }),
      },
    ],
    { name: "deleteAfterRun", label: "Delete the task after its first run", kind: "switch" },
  ];
  const title = task ? `Edit ${task.name}` : "New task";
  return <FormDialog title={title} wide action="Save" form={form} fields={fields} {...dialog} />;
}

/** The request body without the schedule. */
function bodyOf(values: Written): Omit<NewScheduledTask, "schedule"> {
  const { name, prompt, deleteAfterRun, maxRetries, onMissed, outboundChannel, outboundTarget } = values;
  return { name, prompt, deleteAfterRun, maxRetries, onMissed, outboundChannel, outboundTarget };
}

const rhythms = [
  ...usualTimes.map((value) => ({ value, label: cronWords(value) })),
  { value: "", label: "another one" },
];

/** The fields of the schedule. */
function scheduleFields({ values, setAt }: Form<Written>): Row<Written> {
  const { type, expression, unit } = values.schedule;
  const words = cronWords(expression);
  return [
    {
      name: "schedule.type",
      label: "When",
      kind: "choice",
      choices: choicesOf({ cron: "At times of a calendar", interval: "Every so often", "one-shot": "Once" }),
    },
    type === "cron" && (
      <Choice
        label="Rhythm"
        value={usualTimes.find((one) => one === expression.trim()) ?? ""}
        choices={rhythms}
        onValue={(value) => value !== "" && setAt("schedule.expression", value)}
      />
    ),
    {
      name: "schedule.expression",
      label: "Times",
      required: true,
      spellcheck: false,
      hint: words === expression ? "Minute, hour, day of the month, month, day of the week." : `${words}.`,
      shown: type === "cron",
    },
    { name: "schedule.timezone", ...zone, shown: type === "cron" },
    {
      name: "schedule.every",
      label: "Every",
      path: "schedule.everyMs",
      wording: (message) => everyProblem(message, unit),
      kind: "number",
      step: "any",
      shown: type === "interval",
    },
    {
      name: "schedule.unit",
      label: "Unit",
      kind: "choice",
      choices: ["seconds", "minutes", "hours", "days"].map((value) => ({ value, label: value })),
      shown: type === "interval",
    },
    {
      name: "schedule.runAt",
      label: "Date and time",
      type: "datetime-local",
      required: true,
      hint: "In your own time zone.",
      shown: type === "one-shot",
    },
  ];
}
