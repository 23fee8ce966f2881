import type { Instance } from "../../../../../client/index.ts";
import { NumberField } from "../../../../ui/form/field.tsx";
import type { FieldOf } from "../../../../ui/form/form.tsx";

const micro = 1_000_000;

/** A budget that is typed in the currency's unit and stored in millionths of it. */
export const moneyField = (name: "monthlyCostBudget" | "userMonthlyCostBudget", label: string): FieldOf<Instance> => ({
  name,
  label,
  kind: "custom",
  control: ({ value, problem, onValue }) => (
    <NumberField
      label={label}
      optional
      step="any"
      problem={problem}
      value={value === null ? null : value / micro}
      onNumber={(amount) => onValue(amount === null ? null : Math.round(amount * micro))}
    />
  ),
});
