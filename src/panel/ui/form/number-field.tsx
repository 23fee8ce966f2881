import { TextField } from "./field.tsx";

interface Props {
  label: string;
  hint?: string;
  problem: string | undefined;
  optional?: boolean;
  step?: number;
  value: number | null;
  /** Null: nothing is written. */
  onNumber: (value: number | null) => void;
}

export const NumberField = ({ value, onNumber, ...rest }: Props) => (
  <TextField
    {...rest}
    type="number"
    value={value === null ? "" : String(value)}
    onValue={(text) => onNumber(text.trim() === "" ? null : Number(text))}
  />
);
