import { Choice, TextField } from "../../../../ui/form/field.tsx";
import { NumberField } from "../../../../ui/form/number-field.tsx";
import { ZoneField } from "../zone-field.tsx";
import { cronWords, everyProblem, type Unit, usualTimes, type WrittenSchedule } from "./schedule.ts";

interface Props {
  schedule: WrittenSchedule;
  problem: (field: string) => string | undefined;
  onSchedule: (changes: Partial<WrittenSchedule>) => void;
}

const types = [
  { value: "cron", label: "At times of a calendar" },
  { value: "interval", label: "Every so often" },
  { value: "one-shot", label: "Once" },
];

const rhythms = [
  ...usualTimes.map((value) => ({ value, label: cronWords(value) })),
  { value: "", label: "another one" },
];

/** When a task runs. */
export function ScheduleFields({ schedule, problem, onSchedule }: Props) {
  const { type, expression, timezone, every, unit, runAt } = schedule;
  return (
    <div class="columns">
      <Choice
        label="When"
        value={type}
        choices={types}
        onValue={(value) => onSchedule({ type: value as WrittenSchedule["type"] })}
      />
      {type === "cron" && (
        <>
          <Choice
            label="Rhythm"
            value={usualTimes.find((one) => one === expression.trim()) ?? ""}
            choices={rhythms}
            onValue={(value) => value !== "" && onSchedule({ expression: value })}
          />
          <TextField
            label="Times"
            required
            spellcheck={false}
            hint={
              cronWords(expression) === expression
                ? "Minute, hour, day of the month, month, day of the week."
                : `${cronWords(expression)}.`
            }
            value={expression}
            problem={problem("expression")}
            onValue={(text) => onSchedule({ expression: text })}
          />
          <ZoneField
            value={timezone}
            problem={problem("timezone")}
            onValue={(text) => onSchedule({ timezone: text })}
          />
        </>
      )}
      {type === "interval" && (
        <>
          <NumberField
            label="Every"
            step="any"
            value={every}
            problem={everyProblem(problem("everyMs"), unit)}
            onNumber={(value) => onSchedule({ every: value })}
          />
          <Choice
            label="Unit"
            value={unit}
            choices={["seconds", "minutes", "hours", "days"].map((value) => ({ value, label: value }))}
            onValue={(value) => onSchedule({ unit: value as Unit })}
          />
        </>
      )}
      {type === "one-shot" && (
        <TextField
          label="Date and time"
          type="datetime-local"
          required
          hint="In your own time zone."
          value={runAt}
          problem={problem("runAt")}
          onValue={(text) => onSchedule({ runAt: text })}
        />
      )}
    </div>
  );
}
