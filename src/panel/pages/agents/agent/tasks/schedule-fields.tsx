import type { Form } from "../../../../data/form.ts";
import { Choice } from "../../../../ui/form/field.tsx";
import type { Row } from "../../../../ui/form/table.ts";
import { zone } from "../zone.ts";
import { cronWords, everyProblem, usualTimes, type WrittenSchedule } from "./schedule.ts";

interface Scheduled {
  schedule: WrittenSchedule;
}

const rhythms = [
  ...usualTimes.map((value) => ({ value, label: cronWords(value) })),
  { value: "", label: "another one" },
];

/** The fields for when a task runs. */
export function scheduleFields({ values, setAt }: Pick<Form<Scheduled>, "values" | "setAt">): Row<Scheduled> {
  const { type, expression, unit } = values.schedule;
  const words = cronWords(expression);
  return [
    {
      name: "schedule.type",
      label: "When",
      kind: "choice",
      choices: [
        { value: "cron", label: "At times of a calendar" },
        { value: "interval", label: "Every so often" },
        { value: "one-shot", label: "Once" },
      ],
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
