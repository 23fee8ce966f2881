import { isDate } from "../../data/days.ts";
import { TextField } from "../../ui/form/field.tsx";
import type { Period } from "./period.ts";

interface Props {
  period: Period;
  problem: string | undefined;
  /** What of the address changes; empty for what goes. */
  onChange: (changes: { period: string; from: string; to: string }) => void;
}

const choices: readonly { choice: Period["choice"]; title: string }[] = [
  { choice: "month", title: "This month" },
  { choice: "last-month", title: "Last month" },
  { choice: "custom", title: "Other days" },
];

/** Which days are shown. */
export function PeriodChoice({ period: { choice, from, to }, problem, onChange }: Props) {
  const days = (changes: { from?: string; to?: string }) => onChange({ period: "", from, to, ...changes });
  const choose = (wanted: Period["choice"]) => {
    if (wanted === "custom") days({});
    else onChange({ period: wanted === "month" ? "" : wanted, from: "", to: "" });
  };
  return (
    <div class="form">
      <fieldset class="segments">
        <legend class="unseen">Days</legend>
        {choices.map((one) => (
          <button
            key={one.choice}
            type="button"
            class="button small"
            aria-pressed={one.choice === choice}
            onClick={() => choose(one.choice)}
          >
            {one.title}
          </button>
        ))}
      </fieldset>
      {choice === "custom" && (
        <div class="columns">
          <TextField
            label="First day"
            type="date"
            value={from}
            onValue={(next) => {
              if (isDate(next)) days({ from: next });
            }}
          />
          <TextField
            label="Last day"
            type="date"
            value={to}
            problem={problem}
            onValue={(next) => {
              if (isDate(next)) days({ to: next });
            }}
          />
        </div>
      )}
    </div>
  );
}
