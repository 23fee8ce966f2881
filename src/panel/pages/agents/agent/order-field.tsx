import { NumberField } from "../../../ui/form/number-field.tsx";

interface Props {
  hint: string;
  isNew: boolean;
  value: number | null;
  problem: string | undefined;
  onNumber: (value: number | null) => void;
}

/** The place among others of the kind. A new one without a place goes behind them; one that has a place keeps one. */
export const OrderField = ({ isNew, value, ...rest }: Props) =>
  isNew ? (
    <NumberField label="Order" optional value={value} {...rest} />
  ) : (
    <NumberField label="Order" value={value ?? Number.NaN} {...rest} />
  );
