import { isDate } from "../../data/days.ts";
import { TextField } from "../../ui/form/field.tsx";
import { Segments } from "../../ui/segments.tsx";
import type { Period } from "./period.ts";

interface Props {
  period: Period;
  problem: string | undefined;
  /** What of the address changes; empty for what goes. */
  onChange: (changes: { period: string; from: string; to: string }) => void;
}

const choices: readonly { value: Period["choice"]; label: string }[] = [
  { value: "month", label: "This month" },
  { value: "last-month", label: "Last month" },
  { value: "custom", label: "Other days" },
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
      <Segments label="Days" value={choice} choices={choices} onValue={choose} />
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
