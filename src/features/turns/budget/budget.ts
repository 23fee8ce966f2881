import { type Column, type SQL, type SQLWrapper, sql, type Table } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Services } from "../../../context/ctx.ts";
import { EngineError } from "../../../core/errors.ts";
import type { Database } from "../../../db/client.ts";
import { assign, column, fields, insertInto, only, type RowOf } from "../../../db/fragments.ts";
import { agents, budgetPeriods, isOpen, turns, userBudgetPeriods } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";

// `monthlyTokenBudget` and `monthlyCostBudget`: tokens and their cost are reserved in `budget_periods` before a model
// call, and its usage is recorded there after it, so that simultaneous calls can't spend the same. The end users' budgets
// are handled in the same way in `user_budget_periods`. If a turn's process died, the turn's usage is unknown, and its
// reservation counts as used. Background calls reserve in `holds.ts`. Costs are in micros; a model without a price costs
// nothing.

/** Tokens and their cost. */
export interface Amount {
  tokens: number;
  cost: number;
}

/** An amount to reserve, and the budgets' month: its first day in UTC, as a date. */
export interface Reservation extends Amount {
  month: string;
}

/** The amount of a statement. */
type AmountOf = { readonly [Name in keyof Amount]: SQL };

/**
 * Reserves an amount, as part of a larger statement; returns a row that is `granted` when the month's budgets cover it.
 * `agent` is a table of one row. The month's first row starts with the usage of its turns so far, from before the agent
 * had a budget, even if that already exceeds the budget.
 */
export function reserveAmount({ agent, month, tokens, cost }: AmountOf & { agent: Budgeted; month: SQL }): SQL {
  const { reserved } = budgetPeriods;
  const known = sql`select 1 from ${budgetPeriods}
    where ${budgetPeriods.agentId} = ${agent.id} and ${budgetPeriods.month} = ${month}`;
  const spent = sql`select coalesce(sum(${turns.promptTokens}::bigint + ${turns.completionTokens}), 0) as used,
      coalesce(sum(${turns.costMicros}), 0) as cost_used
    from ${turns} where ${turns.agentId} = ${agent.id}
      and ${turns.createdAt} >= ${month}::timestamp at time zone 'UTC' and not exists (${known})`;
  const { monthlyTokenBudget: budget, monthlyCostBudget: costBudget } = agent;
  const begun = {
    agentId: agent.id,
    month,
    used: sql`spent.used`,
    costUsed: sql`spent.cost_used`,
    reserved: sql`case when fits then ${tokens} else 0 end`,
    costReserved: sql`case when fits then ${cost} else 0 end`,
  };
  return sql`
    ${insertInto(budgetPeriods, begun)}
    from ${agent}, lateral (${spent}) spent, lateral (
      select (${budget} is null or spent.used + ${tokens} <= ${budget})
        and (${costBudget} is null or spent.cost_used + ${cost} <= ${costBudget}) as fits
    ) f
    where fits or spent.used > 0
    on conflict (${column(budgetPeriods.agentId)}, ${column(budgetPeriods.month)}) do update
      set ${assign(budgetPeriods, added(budgetPeriods, { tokens, cost }))}
      where ${covers(only(budget), only(costBudget), budgetPeriods, { tokens, cost })}
    returning ${reserved} > 0 as granted`;
}

type Periods = typeof budgetPeriods | typeof userBudgetPeriods;

const added = ({ reserved, costReserved }: Periods, { tokens, cost }: AmountOf) => ({
  reserved: sql`${reserved} + ${tokens}`,
  costReserved: sql`${costReserved} + ${cost}`,
});

/** Whether a month's budgets cover an amount beside what is used and reserved. */
const covers = (budget: SQLWrapper, costBudget: SQLWrapper, periods: Periods, { tokens, cost }: AmountOf) => sql`
  (${budget} is null or ${periods.used} + ${periods.reserved} + ${tokens} <= ${budget})
  and (${costBudget} is null or ${periods.costUsed} + ${periods.costReserved} + ${cost} <= ${costBudget})`;

type Budgeted = Table & Record<"id" | "monthlyTokenBudget" | "monthlyCostBudget", Column>;

/** `reserveAmount` for the budgets of an end user; returns a row when they cover the amount. */
export function reserveUserAmount({ agent, subject, month, tokens, cost }: UserAmount): SQL {
  const { agentId } = userBudgetPeriods;
  const { userMonthlyTokenBudget: budget, userMonthlyCostBudget: costBudget } = agent;
  const begun = { agentId: agent.id, subject, month, reserved: tokens, costReserved: cost };
  return sql`
    ${insertInto(userBudgetPeriods, begun)} from ${agent}
    where (${budget} is null or ${tokens} <= ${budget}) and (${costBudget} is null or ${cost} <= ${costBudget})
    on conflict (${column(agentId)}, ${column(userBudgetPeriods.subject)}, ${column(userBudgetPeriods.month)}) do update
      set ${assign(userBudgetPeriods, added(userBudgetPeriods, { tokens, cost }))}
      where ${covers(only(budget), only(costBudget), userBudgetPeriods, { tokens, cost })}
    returning 1`;
}

interface UserAmount extends AmountOf {
  agent: Table & Record<"id" | "userMonthlyTokenBudget" | "userMonthlyCostBudget", Column>;
  subject: SQL;
  month: SQL;
}

/** The limits of an agent's table of one row, for a statement that may refuse. */
export const limitsOf = ({ tokens, cost }: Record<keyof Amount, Column>) => ({
  tokens: sql<number | null>`${only(tokens)}::float8`,
  cost: sql<number | null>`${only(cost)}::float8`,
});

const reserveOne = statement(
  { agentId: "uuid", month: "date", tokens: "int", cost: "bigint", turnId: "uuid" },
  ({ agentId, month, tokens, cost, turnId }) => {
    const [agent, turn] = [alias(agents, "agent"), alias(turns, "turn")];
    const more = {
      tokens: sql`(${tokens} - ${only(turn.reserved)})`,
      cost: sql`(${cost} - ${only(turn.costReserved)})`,
    };
    const granted = sql`exists (select 1 from held where granted)`;
    const limits = { tokens: agent.monthlyTokenBudget, cost: agent.monthlyCostBudget };
    const row = fields({ held: sql<boolean>`${granted}`, had: only(turn.reserved), ...limitsOf(limits) });
    // Locks the turn: if it were closed meanwhile, its reservation would never be released.
    return sql<RowOf<typeof row>>`
      with ${turn} as (
        select ${turns.reserved}, ${turns.costReserved} from ${turns}
        where ${turns.id} = ${turnId} and ${isOpen(turns)} for no key update
      ), ${agent} as (
        select ${agents.id}, ${agents.monthlyTokenBudget}, ${agents.monthlyCostBudget} from ${agents}
        where ${agents.id} = ${agentId} and exists (select 1 from ${turn})
      ), held as (
        ${reserveAmount({ agent, month, ...more })}
      ), changed as (
        update ${turns} set ${assign(turns, { reserved: tokens, costReserved: cost })}
        where ${turns.id} = ${turnId} and ${granted}
      )
      select ${row}`;
  },
);

/** Replaces the reservation of a turn. Throws the 429. */
export async function reserve(services: BudgetServices, held: Reservation & { agentId: string; turnId: string }) {
  const [row] = await reserveOne.run(services.database, held);
  if (!row?.held) throw await refusal(services, { ...held, tokens: held.tokens - (row?.had ?? 0) }, row ?? noLimits);
}

const reserveOfUser = statement(
  { turnId: "uuid", month: "date", tokens: "int", cost: "bigint" },
  ({ turnId, month, tokens, cost }) => {
    const [agent, turn] = [alias(agents, "agent"), alias(turns, "turn")];
    const { agentId, subject, userReserved, userCostReserved } = turns;
    const more = {
      tokens: sql`(${tokens} - ${only(turn.userReserved)})`,
      cost: sql`(${cost} - ${only(turn.userCostReserved)})`,
    };
    const granted = sql`exists (select 1 from held)`;
    const limits = { tokens: agent.userMonthlyTokenBudget, cost: agent.userMonthlyCostBudget };
    const row = fields({ held: sql<boolean>`${granted}`, had: only(turn.userReserved), ...limitsOf(limits) });
    return sql<RowOf<typeof row>>`
      with ${turn} as (
        select ${agentId}, ${subject}, ${userReserved}, ${userCostReserved} from ${turns}
        where ${turns.id} = ${turnId} and ${isOpen(turns)} for no key update
      ), ${agent} as (
        select ${agents.id}, ${agents.userMonthlyTokenBudget}, ${agents.userMonthlyCostBudget}
        from ${agents} join ${turn} on ${turn.agentId} = ${agents.id}
      ), held as (
        ${reserveUserAmount({ agent, subject: only(turn.subject), month, ...more })}
      ), changed as (
        update ${turns} set ${assign(turns, { userReserved: tokens, userCostReserved: cost })}
        where ${turns.id} = ${turnId} and ${granted}
      )
      select ${row}`;
  },
);

/** Replaces a turn's reservation in the end user's budgets. Throws the 429. */
export async function reserveForUser(
  services: BudgetServices,
  held: Reservation & { agentId: string; subject: string; turnId: string },
): Promise<void> {
  const [row] = await reserveOfUser.run(services.database, held);
  if (!row?.held) throw await refusal(services, { ...held, tokens: held.tokens - (row?.had ?? 0) }, row ?? noLimits);
}

const releaseOfUser = statement(
  { agentId: "uuid", subject: "text", month: "date", tokens: "int", cost: "bigint" },
  ({ agentId, subject, month, tokens, cost }) => {
    const { used, reserved, costReserved } = userBudgetPeriods;
    const released = {
      reserved: sql`greatest(0, ${reserved} - ${tokens})`,
      costReserved: sql`greatest(0, ${costReserved} - ${cost})`,
    };
    const period = sql`${userBudgetPeriods.agentId} = ${agentId} and ${userBudgetPeriods.subject} = ${subject}
      and ${userBudgetPeriods.month} = ${month}`;
    // A refused request leaves no row: anybody can send any `chat_id`, and would fill the table.
    return sql`
      with gone as (
        delete from ${userBudgetPeriods} where ${period} and ${used} = 0 and ${reserved} <= ${tokens} returning 1
      )
      update ${userBudgetPeriods} set ${assign(userBudgetPeriods, released)}
      where ${period} and not exists (select 1 from gone)`;
  },
);

/** Releases an end user's reservation for a turn that got no slot. */
export async function releaseForUser(
  database: Database,
  held: Reservation & { agentId: string; subject: string },
): Promise<void> {
  await releaseOfUser.run(database, held);
}

export type BudgetServices = Pick<Services, "database" | "clock">;

/** An amount that a budget did not cover; `subject` is the end user, and absent for the agent's own budget. */
interface Refused extends Reservation {
  agentId: string;
  subject?: string;
}

/** The budgets of tokens and money; null: no limit. */
interface Limits {
  tokens: number | null;
  cost: number | null;
}

export const noLimits: Limits = { tokens: null, cost: null };

/**
 * The 429 of an agent or an end user whose budgets do not cover an amount; `Retry-After` is the beginning of the next
 * month. Where there are two budgets, it reads which of them is used up.
 */
export async function refusal(
  { database, clock }: BudgetServices,
  refused: Refused,
  { tokens, cost }: Limits,
): Promise<EngineError> {
  const subject = refused.subject ?? null;
  const taken = async () => (await takenStatement.run(database, { ...refused, subject }))[0]?.tokens ?? 0;
  const ofTokens = cost === null || (tokens !== null && refused.tokens + (await taken()) > tokens);
  const [kind, limit] = ofTokens ? ["token", tokens] : ["cost", cost];
  const now = clock.now();
  const date = new Date(now);
  const next = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  const resetSeconds = Math.max(1, Math.ceil((next - now) / 1000));
  const whose = subject === null ? "agent" : "end user";
  return new EngineError("rate-limited", `The ${whose}'s monthly ${kind} budget is used up`, {
    limit: { limit: limit ?? 0, remaining: 0, resetSeconds },
  });
}

/** The tokens that a month's budget has used and reserved. */
const takenStatement = statement(
  { agentId: "uuid", subject: "text | null", month: "date" },
  ({ agentId, subject, month }) => {
    const taken = ({ used, reserved }: Periods) => sql<number>`(${used} + ${reserved})::float8`;
    const ofMonth = (periods: Periods) => sql`${periods.agentId} = ${agentId} and ${periods.month} = ${month}`;
    return sql<{ tokens: number }>`
      select ${taken(budgetPeriods)} as tokens from ${budgetPeriods}
      where ${ofMonth(budgetPeriods)} and ${subject} is null
      union all select ${taken(userBudgetPeriods)} from ${userBudgetPeriods}
      where ${ofMonth(userBudgetPeriods)} and ${userBudgetPeriods.subject} = ${subject}`;
  },
);
