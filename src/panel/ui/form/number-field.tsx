import { TextField } from "./field.tsx";

interface Described {
  label: string;
  hint?: string;
  problem: string | undefined;
  step?: number | "any";
}

interface Optional extends Described {
  optional: true;
  value: number | null;
  /** Null: nothing is written. */
  onNumber: (value: number | null) => void;
}

interface Required extends Described {
  optional?: false;
  value: number;
  /** NaN: nothing is written. JSON has null for it, which the API refuses, so that the former number is not kept unsaid. */
  onNumber: (value: number) => void;
}

export function NumberField(props: Optional | Required) {
  const { optional = false, value, problem, onNumber: _, ...rest } = props;
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
      onValue={(text) => {
        if (text.trim() !== "") props.onNumber(Number(text));
        else if (props.optional) props.onNumber(null);
        else props.onNumber(Number.NaN);
      }}
    />
  );
}
