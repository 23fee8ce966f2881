import { Card } from "../../../../ui/card.tsx";
import { NumberField } from "../../../../ui/form/number-field.tsx";
import type { PartProps } from "./part-props.ts";

/** What the agent and each end user may use up. */
export const Budgets = ({ form: { values, set, problem } }: PartProps) => (
  <Card title="Budgets" lead="Tokens a calendar month; empty is no limit.">
    <div class="columns">
      <NumberField
        label="Of the agent"
        optional
        value={values.monthlyTokenBudget}
        problem={problem("monthlyTokenBudget")}
        onNumber={(monthlyTokenBudget) => set({ monthlyTokenBudget })}
      />
      <NumberField
        label="Of each end user"
        optional
        value={values.userMonthlyTokenBudget}
        problem={problem("userMonthlyTokenBudget")}
        onNumber={(userMonthlyTokenBudget) => set({ userMonthlyTokenBudget })}
      />
    </div>
  </Card>
);
