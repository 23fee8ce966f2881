import { isDate } from "../../data/days.ts";
import { TextField } from "./field.tsx";

interface Props {
  /** Days in UTC, such as `2026-11-21`; empty: from the first one, or to the last one. */
  days: { from: string; to: string };
  onDay: (change: { from: string } | { to: string }) => void;
}

/** The first and the last day of what is shown. */
export const DayFields = ({ days, onDay }: Props) => (
  <>
    <DayField label="First day" value={days.from} onDay={(from) => onDay({ from })} />
    <DayField label="Last day" value={days.to} onDay={(to) => onDay({ to })} />
  </>
);

/** Tells of whole dates, and of none; not of one that is still typed. */
const DayField = ({ label, value, onDay }: { label: string; value: string; onDay: (day: string) => void }) => (
  <TextField
    label={label}
    type="date"
    value={value}
    onValue={(day) => {
      if (day === "" || isDate(day)) onDay(day);
    }}
  />
);
