import { type Described, TextField } from "./field.tsx";

interface Props extends Described {
  step?: "any" | undefined;
  /** NaN: nothing is written, though a number is needed. JSON has null for it, which the API refuses. */
  value: number | null;
  onNumber: (value: number | null) => void;
}

export function NumberField({ optional = false, value, problem, onNumber, ...rest }: Props) {
  // A draft comes back from JSON.
  const isEmpty = value === null || Number.isNaN(value);
  return (
    <TextField
      {...rest}
      type="number"
      optional={optional}
      required={!optional}
      problem={problem ?? (isEmpty && !optional ? "A number is needed here." : undefined)}
      value={isEmpty ? "" : String(value)}
      onValue={(text) => onNumber(text.trim() !== "" ? Number(text) : optional ? null : Number.NaN)}
    />
  );
}
