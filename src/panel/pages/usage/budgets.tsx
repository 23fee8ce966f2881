import type { ComponentChildren } from "preact";
import type { Budgets } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useLoaded } from "../../data/list/load.ts";
import { hrefOf } from "../../data/route.ts";
import { Bar } from "../../ui/bar.tsx";
import { Card } from "../../ui/card.tsx";
import { Failure } from "../../ui/note.tsx";
import { endUserText } from "../../ui/text/end-user.ts";
import { moneyText } from "../../ui/text/money.ts";
import { countText, shareText } from "../../ui/text/numbers.ts";

type Budget = Budgets["agents"][number];

/** From this share of a budget on, its bar draws attention. */
const nearShare = 0.8;
/** The most end users shown. */
const shownUsers = 10;

/** How much of this month's budgets is used, for all agents or one; nothing without budgets. */
export function BudgetCards({ instanceId }: { instanceId: string | undefined }) {
  const { value, error, reload } = useLoaded((signal) => api.getBudgets({}, { signal }), []);
  const budgets = value.value;
  if (!budgets) return <Failure error={error.value} retry={reload} />;
  const isMeant = (budget: Budget) => instanceId === undefined || budget.instanceId === instanceId;
  const of = ({ agents, users }: BudgetsOf) => ({ agents: agents.filter(isMeant), users: users.filter(isMeant) });
  const { costs } = budgets;
  return (
    <>
      <Cards
        title="Budgets"
        {...of(budgets)}
        amount={({ used, budget }) => `${countText(used)} of ${countText(budget)} tokens`}
      />
      <Cards
        title="Budgets in money"
        {...of(costs)}
        amount={({ used, budget }) => `${moneyText(used, costs.currency)} of ${moneyText(budget, costs.currency)}`}
      />
    </>
  );
}

/** Budgets of one kind, the largest share first. */
type BudgetsOf = Pick<Budgets, "agents" | "users">;

interface CardsProps extends BudgetsOf {
  title: string;
  /** The used part of a budget in words. */
  amount: (budget: Budget) => string;
}

const Cards = ({ title, agents, users, amount }: CardsProps) => (
  <>
    {agents.length > 0 && (
      <Card title={`${title} of agents this month`} lead={nearText(agents, "agent")}>
        <ul class="budgets">
          {agents.map((budget) => (
            <BudgetRow key={budget.instanceId} budget={budget} amount={amount(budget)} name={budget.instanceName}>
              <AgentLink {...budget} />
            </BudgetRow>
          ))}
        </ul>
      </Card>
    )}
    {users.length > 0 && (
      <Card title={`${title} of people this month`} lead={nearText(users, "person")}>
        <ul class="budgets">
          {users.slice(0, shownUsers).map((budget) => (
            <BudgetRow
              key={`${budget.instanceId} ${budget.userChannel} ${budget.user}`}
              budget={budget}
              amount={amount(budget)}
              name={endUserText(budget.user, budget.userChannel)}
            >
              {endUserText(budget.user, budget.userChannel)} <span class="soft">with</span> <AgentLink {...budget} />
            </BudgetRow>
          ))}
        </ul>
        {users.length > shownUsers && <p class="soft">Those nearest to their limit are shown.</p>}
      </Card>
    )}
  </>
);

const shareOf = ({ used, reserved, budget }: Budget) => (budget === 0 ? 1 : (used + reserved) / budget);

function nearText(budgets: readonly Budget[], one: "agent" | "person"): string {
  const near = budgets.filter((budget) => shareOf(budget) >= nearShare).length;
  if (near === 0) return `Nobody is near the limit. A budget that is used up refuses calls until the month ends.`;
  const who = near === 1 ? `1 ${one} has` : `${near} ${one === "agent" ? "agents" : "people"} have`;
  return `${who} used ${shareText(nearShare)} or more. A budget that is used up refuses calls until the month ends.`;
}

const AgentLink = ({ instanceId, instanceName }: Budget) => (
  <a href={hrefOf(["agents", instanceId, "settings"])}>{instanceName}</a>
);

interface RowProps {
  budget: Budget;
  amount: string;
  name: string;
  children: ComponentChildren;
}

function BudgetRow({ budget, amount, name, children }: RowProps) {
  const share = shareOf(budget);
  const look = share >= 1 ? "bad" : share >= nearShare ? "warn" : undefined;
  return (
    <li>
      <span>{children}</span>
      <span class="numbers">
        {amount} <span class={`badge ${look ?? ""}`}>{shareText(share)}</span>
      </span>
      <Bar label={`Used by ${name}`} share={share} look={look} />
    </li>
  );
}
