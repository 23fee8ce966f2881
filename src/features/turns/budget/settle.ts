import { type Column, type SQL, type SQLWrapper, sql, type Table } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Database } from "../../../db/client.ts";
import { assign, column } from "../../../db/fragments.ts";
import { budgetPeriods, turns, userBudgetPeriods } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import type { Amount, Reservation } from "./budget.ts";

// Replaces reservations in budgets by what was used.

type Held = Record<"reserved" | "userReserved" | "costReserved" | "userCostReserved", Column>;
type Ended = Table & Record<"agentId" | "subject" | "budgetMonth", Column> & Held;

/** An amount of a statement. */
export type Used = { readonly [Name in keyof Amount]: SQLWrapper };

/** An amount to charge to budgets: `used` for each row of the table `from`, whose columns are `of`. */
interface Charge {
  of: Ended;
  from: SQLWrapper;
  used: Used;
}

/**
 * Parts of a `with`, the last of them `settled`: they replace the reservations of a turn by its usage, in the agent's
 * and the end user's budgets. `ended` is a table of at most one turn; `used` is what the turn took.
 */
export function settleTurn(ended: Ended, used: Used): SQL {
  const charge = { of: ended, from: ended, used };
  return settled(charge, charge);
}

/** Like `settleTurn`, for any number of turns. For one turn, the sums would cost as much as two more tables. */
export function settleTurns(ended: Ended, used: Used): SQL {
  const [sums, userSums] = [alias(turns, "sums"), alias(turns, "user_sums")];
  const summed = (of: Column) => sql`sum(${of}) as ${column(of)}`;
  const counted = sql`sum(${used.tokens}) as used, sum(${used.cost}) as cost_used
    from ${ended} where ${ended.budgetMonth} is not null`;
  const ofUsers = sql`(
    select ${ended.agentId}, ${ended.subject}, ${ended.budgetMonth},
      ${summed(ended.userReserved)}, ${summed(ended.userCostReserved)}, ${counted} group by 1, 2, 3
  ) ${userSums}`;
  const ofAgents = sql`(
    select ${ended.agentId}, ${ended.budgetMonth}, ${summed(ended.reserved)}, ${summed(ended.costReserved)}, ${counted}
    group by 1, 2
  ) ${sums}`;
  return settled(
    { of: userSums, from: ofUsers, used: { tokens: sql`user_sums.used`, cost: sql`user_sums.cost_used` } },
    { of: sums, from: ofAgents, used: { tokens: sql`sums.used`, cost: sql`sums.cost_used` } },
  );
}

function settled(user: Charge, agent: Charge): SQL {
  const ofUser = replaced(userBudgetPeriods, user.used, {
    tokens: user.of.userReserved,
    cost: user.of.userCostReserved,
  });
  const ofAgent = replaced(budgetPeriods, agent.used, { tokens: agent.of.reserved, cost: agent.of.costReserved });
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

/** A period's columns once a reservation is replaced by what was used. */
export const replaced = (
  { used, reserved, costUsed, costReserved }: typeof budgetPeriods | typeof userBudgetPeriods,
  taken: Used,
  held: Used,
) => ({
  used: sql`${used} + ${taken.tokens}`,
  reserved: sql`greatest(0, ${reserved} - ${held.tokens})`,
  costUsed: sql`${costUsed} + ${taken.cost}`,
  costReserved: sql`greatest(0, ${costReserved} - ${held.cost})`,
});

/** The columns of an ended turn that `settleTurns` reads. */
export const heldColumns = sql`${turns.agentId}, ${turns.subject}, ${turns.budgetMonth}, ${turns.reserved},
  ${turns.userReserved}, ${turns.costReserved}, ${turns.userCostReserved}`;

/** The reservation of a turn whose process died, which counts as used. */
export const heldFor = ({ reserved, userReserved, costReserved, userCostReserved }: Held): Used => ({
  tokens: sql`greatest(${reserved}, ${userReserved})`,
  cost: sql`greatest(${costReserved}, ${userCostReserved})`,
});

/** The usage of a turn that never ran. */
export const nothingUsed: Used = { tokens: sql`0`, cost: sql`0` };

/**
 * A condition that makes the rest of a statement run after `settled`. All statements that lock budgets and a
 * conversation lock them in the order of OPEN, and an end user's budget before the agent's: otherwise statements of one
 * conversation would deadlock.
 */
export const onceSettled = sql`(select count(*) from settled) >= 0`;

const settleOne = statement(
  { agentId: "uuid", month: "date", tokens: "int", cost: "bigint", used: "int", costUsed: "bigint" },
  ({ agentId, month, tokens, cost, used, costUsed }) => {
    const settled = replaced(budgetPeriods, { tokens: used, cost: costUsed }, { tokens, cost });
    return sql`update ${budgetPeriods} set ${assign(budgetPeriods, settled)}
      where ${budgetPeriods.agentId} = ${agentId} and ${budgetPeriods.month} = ${month}`;
  },
);

/** Replaces a reserved amount by a used one in an agent's budgets. */
export async function settle(
  database: Database,
  { used, ...held }: Reservation & { agentId: string; used: Amount },
): Promise<void> {
  await settleOne.run(database, { ...held, used: used.tokens, costUsed: used.cost });
}
