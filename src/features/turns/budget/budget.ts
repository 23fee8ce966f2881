import { type Column, type SQL, type SQLWrapper, sql, type Table } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Services } from "../../../context/ctx.ts";
import { EngineError } from "../../../core/errors.ts";
import type { Database } from "../../../db/client.ts";
import { assign, column, fields, insertInto, only, type RowOf } from "../../../db/fragments.ts";
import { agents, budgetPeriods, isOpen, turns, userBudgetPeriods } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";

// `monthlyTokenBudget`: tokens are reserved in `budget_periods` before a model call, and its usage is recorded there
// after it, so that simultaneous calls can't spend the same tokens. `userMonthlyTokenBudget` is handled in the same way
// in `user_budget_periods`. If a turn's process died, the turn's usage is unknown, and its reservation counts as used.
// Background calls reserve in `holds.ts`.

/** Tokens to reserve, and the budget's month: its first day in UTC, as a date. */
export interface Reservation {
  month: string;
  tokens: number;
}

/**
 * Reserves tokens, as part of a larger statement; returns a row that is `granted` when the month's budget covers them.
 * `agent` is a table of one row. The month's first row starts with the usage of its turns so far, from before the agent
 * had a budget, even if that already exceeds the budget.
 */
export function reserveTokens({ agent, month, tokens }: { agent: Budgeted; month: SQL; tokens: SQL }): SQL {
  const { used, reserved } = budgetPeriods;
  const known = sql`select 1 from ${budgetPeriods}
    where ${budgetPeriods.agentId} = ${agent.id} and ${budgetPeriods.month} = ${month}`;
  const spent = sql`select coalesce(sum(${turns.promptTokens}::bigint + ${turns.completionTokens}), 0) as used
    from ${turns} where ${turns.agentId} = ${agent.id}
      and ${turns.createdAt} >= ${month}::timestamp at time zone 'UTC' and not exists (${known})`;
  const budget = only(agent.monthlyTokenBudget);
  const begun = {
    agentId: agent.id,
    month,
    used: sql`spent.used`,
    reserved: sql`case when fits then ${tokens} else 0 end`,
  };
  return sql`
    ${insertInto(budgetPeriods, begun)}
    from ${agent}, lateral (${spent}) spent, lateral (
      select ${agent.monthlyTokenBudget} is null or spent.used + ${tokens} <= ${agent.monthlyTokenBudget} as fits
    ) f
    where fits or spent.used > 0
    on conflict (${column(budgetPeriods.agentId)}, ${column(budgetPeriods.month)}) do update
      set ${assign(budgetPeriods, { reserved: sql`${reserved} + ${tokens}` })}
      where ${budget} is null or ${used} + ${reserved} + ${tokens} <= ${budget}
    returning ${reserved} > 0 as granted`;
}

type Budgeted = Table & Record<"id" | "monthlyTokenBudget", Column>;

/** `reserveTokens` for the budget of an end user; returns a row when it covers the tokens. */
export function reserveUserTokens({ agent, subject, month, tokens }: UserTokens): SQL {
  const { agentId, used, reserved } = userBudgetPeriods;
  const budget = agent.userMonthlyTokenBudget;
  const begun = { agentId: agent.id, subject, month, reserved: tokens };
  return sql`
    ${insertInto(userBudgetPeriods, begun)} from ${agent} where ${budget} is null or ${tokens} <= ${budget}
    on conflict (${column(agentId)}, ${column(userBudgetPeriods.subject)}, ${column(userBudgetPeriods.month)}) do update
      set ${assign(userBudgetPeriods, { reserved: sql`${reserved} + ${tokens}` })}
      where ${only(budget)} is null or ${used} + ${reserved} + ${tokens} <= ${only(budget)}
    returning 1`;
}

interface UserTokens {
  agent: Table & Record<"id" | "userMonthlyTokenBudget", Column>;
  subject: SQL;
  month: SQL;
  tokens: SQL;
}

type Ended = Table & Record<"agentId" | "subject" | "budgetMonth" | "reserved" | "userReserved", Column>;

/** Tokens to charge to budgets: `used` for each row of the table `from`, whose columns are `of`. */
interface Charge {
  of: Ended;
  from: SQLWrapper;
  used: SQLWrapper;
}

/**
 * Parts of a `with`, the last of them `settled`: they replace the reservations of a turn by its usage, in the agent's
 * and the end user's budgets. `ended` is a table of at most one turn; `used` is the turn's tokens.
 */
export function settleTurn(ended: Ended, used: SQLWrapper): SQL {
  const charge = { of: ended, from: ended, used };
  return settled(charge, charge);
}

/** Like `settleTurn`, for any number of turns. For one turn, the sums would cost as much as two more tables. */
export function settleTurns(ended: Ended, used: SQLWrapper): SQL {
  const [sums, userSums] = [alias(turns, "sums"), alias(turns, "user_sums")];
  const counted = sql`sum(${used}) as used from ${ended} where ${ended.budgetMonth} is not null`;
  const ofUsers = sql`(
    select ${ended.agentId}, ${ended.subject}, ${ended.budgetMonth},
      sum(${ended.userReserved}) as ${column(ended.userReserved)}, ${counted} group by 1, 2, 3
  ) ${userSums}`;
  const ofAgents = sql`(
    select ${ended.agentId}, ${ended.budgetMonth}, sum(${ended.reserved}) as ${column(ended.reserved)}, ${counted}
    group by 1, 2
  ) ${sums}`;
  return settled(
    { of: userSums, from: ofUsers, used: sql`user_sums.used` },
    { of: sums, from: ofAgents, used: sql`sums.used` },
  );
}

function settled(user: Charge, agent: Charge): SQL {
  const ofUser = {
    used: sql`${userBudgetPeriods.used} + ${user.used}`,
    reserved: sql`greatest(0, ${userBudgetPeriods.reserved} - ${user.of.userReserved})`,
  };
  const ofAgent = {
    used: sql`${budgetPeriods.used} + ${agent.used}`,
    reserved: sql`greatest(0, ${budgetPeriods.reserved} - ${agent.of.reserved})`,
  };
  return sql`user_settled as (
      update ${userBudgetPeriods} set ${assign(userBudgetPeriods, ofUser)} from ${user.from}
      where ${userBudgetPeriods.agentId} = ${user.of.agentId} and ${userBudgetPeriods.subject} = ${user.of.subject}
        and ${userBudgetPeriods.month} = ${user.of.budgetMonth}
      returning 1
    ), settled as (
      update ${budgetPeriods} set ${assign(budgetPeriods, ofAgent)} from ${agent.from}
      where ${budgetPeriods.agentId} = ${agent.of.agentId} and ${budgetPeriods.month} = ${agent.of.budgetMonth}
        and (select count(*) from user_settled) >= 0
      returning 1
    )`;
}

/** The reservation of a turn whose process died, which counts as used. */
export const heldFor = ({ reserved, userReserved }: Pick<Ended, "reserved" | "userReserved">) =>
  sql`greatest(${reserved}, ${userReserved})`;

/**
 * A condition that makes the rest of a statement run after `settled`. All statements that lock budgets and a
 * conversation lock them in the order of OPEN, and an end user's budget before the agent's: otherwise statements of one
 * conversation would deadlock.
 */
export const onceSettled = sql`(select count(*) from settled) >= 0`;

const reserveOne = statement(
  { agentId: "uuid", month: "date", tokens: "int", turnId: "uuid" },
  ({ agentId, month, tokens, turnId }) => {
    const [agent, turn] = [alias(agents, "agent"), alias(turns, "turn")];
    const added = sql`(${tokens} - ${only(turn.reserved)})`;
    const granted = sql`exists (select 1 from held where granted)`;
    const row = fields({ held: sql<boolean>`${granted}`, budget: only(agent.monthlyTokenBudget) });
    // Locks the turn: if it were closed meanwhile, its reservation would never be released.
    return sql<RowOf<typeof row>>`
      with ${turn} as (
        select ${turns.reserved} from ${turns} where ${turns.id} = ${turnId} and ${isOpen(turns)} for no key update
      ), ${agent} as (
        select ${agents.id}, ${agents.monthlyTokenBudget} from ${agents}
        where ${agents.id} = ${agentId} and exists (select 1 from ${turn})
      ), held as (
        ${reserveTokens({ agent, month, tokens: added })}
      ), changed as (
        update ${turns} set ${assign(turns, { reserved: tokens })} where ${turns.id} = ${turnId} and ${granted}
      )
      select ${row}`;
  },
);

/** Replaces the reservation of a turn. Throws the 429. */
export async function reserve(
  { database, clock }: Pick<Services, "database" | "clock">,
  { agentId, turnId, month, tokens }: Reservation & { agentId: string; turnId: string },
): Promise<void> {
  const [row] = await reserveOne.run(database, { agentId, month, tokens, turnId });
  if (!row?.held) throw budgetSpent("agent", Number(row?.budget ?? 0), clock.now());
}

const reserveOfUser = statement({ turnId: "uuid", month: "date", tokens: "int" }, ({ turnId, month, tokens }) => {
  const [agent, turn] = [alias(agents, "agent"), alias(turns, "turn")];
  const added = sql`(${tokens} - ${only(turn.userReserved)})`;
  const granted = sql`exists (select 1 from held)`;
  const row = fields({ held: sql<boolean>`${granted}`, budget: only(agent.userMonthlyTokenBudget) });
  return sql<RowOf<typeof row>>`
      with ${turn} as (
        select ${turns.agentId}, ${turns.subject}, ${turns.userReserved} from ${turns}
        where ${turns.id} = ${turnId} and ${isOpen(turns)} for no key update
      ), ${agent} as (
        select ${agents.id}, ${agents.userMonthlyTokenBudget} from ${agents} join ${turn} on ${turn.agentId} = ${agents.id}
      ), held as (
        ${reserveUserTokens({ agent, subject: only(turn.subject), month, tokens: added })}
      ), changed as (
        update ${turns} set ${assign(turns, { userReserved: tokens })} where ${turns.id} = ${turnId} and ${granted}
      )
      select ${row}`;
});

/** Replaces a turn's reservation in the end user's budget. Throws the 429. */
export async function reserveForUser(
  { database, clock }: Pick<Services, "database" | "clock">,
  held: Reservation & { turnId: string },
): Promise<void> {
  const [row] = await reserveOfUser.run(database, held);
  if (!row?.held) throw budgetSpent("end user", Number(row?.budget ?? 0), clock.now());
}

const releaseOfUser = statement(
  { agentId: "uuid", subject: "text", month: "date", tokens: "int" },
  ({ agentId, subject, month, tokens }) => {
    const { used, reserved } = userBudgetPeriods;
    const released = { reserved: sql`greatest(0, ${reserved} - ${tokens})` };
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
  { agentId, subject, month, tokens }: Reservation & { agentId: string; subject: string },
): Promise<void> {
  await releaseOfUser.run(database, { agentId, subject, month, tokens });
}

const settleOne = statement(
  { agentId: "uuid", month: "date", tokens: "int", used: "int" },
  ({ agentId, month, tokens, used }) => {
    const settled = {
      used: sql`${budgetPeriods.used} + ${used}`,
      reserved: sql`greatest(0, ${budgetPeriods.reserved} - ${tokens})`,
    };
    return sql`update ${budgetPeriods} set ${assign(budgetPeriods, settled)}
      where ${budgetPeriods.agentId} = ${agentId} and ${budgetPeriods.month} = ${month}`;
  },
);

/** Replaces reserved tokens by used ones in an agent's budget. */
export async function settle(
  database: Database,
  { agentId, month, tokens, used }: Reservation & { agentId: string; used: number },
): Promise<void> {
  await settleOne.run(database, { agentId, month, tokens, used });
}

/** The 429 of an agent or an end user without tokens left; `Retry-After` is the beginning of the next month. */
export function budgetSpent(whose: "agent" | "end user", limit: number, now: number): EngineError {
  const date = new Date(now);
  const next = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  const resetSeconds = Math.max(1, Math.ceil((next - now) / 1000));
  return new EngineError("rate-limited", `The ${whose}'s monthly token budget is used up`, {
    limit: { limit, remaining: 0, resetSeconds },
  });
}
