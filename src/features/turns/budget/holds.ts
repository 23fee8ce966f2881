import { type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Database } from "../../../db/client.ts";
import { assign, column, fields, insertInto, jsonRows, type RowOf } from "../../../db/fragments.ts";
import { agents, budgetHolds, budgetPeriods } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import { hasLapsed, leaseUntil } from "../../../jobs/heartbeat.ts";
import {
  type Amount,
  type BudgetServices,
  limitsOf,
  noLimits,
  type Reservation,
  refusal,
  reserveAmount,
} from "./budget.ts";
import { replaced } from "./settle.ts";

// The tokens and money that background calls reserve in agents' budgets. Each call has a row under a lease, so that a
// repeated settlement charges nothing twice, and so that the hold of a dead process is settled by another one.

/** The amount that one call reserves. */
export interface Hold extends Reservation {
  id: string;
  agentId: string;
}

const reserveStatement = statement(
  { agentId: "uuid", month: "date", tokens: "int", cost: "bigint", calls: "jsonb" },
  ({ agentId, month, tokens, cost, calls }) => {
    const agent = alias(agents, "agent");
    const granted = sql`exists (select 1 from held where granted)`;
    const limits = limitsOf({ tokens: agent.monthlyTokenBudget, cost: agent.monthlyCostBudget });
    const row = fields({ held: sql<boolean>`${granted}`, ...limits });
    const shape = { id: budgetHolds.id, tokens: budgetHolds.tokens, cost: budgetHolds.cost };
    const { table, row: call } = jsonRows(calls, "call", shape);
    const hold = { ...call, agentId, month, leaseUntil };
    return sql<RowOf<typeof row>>`
      with ${agent} as (
        select ${agents.id}, ${agents.monthlyTokenBudget}, ${agents.monthlyCostBudget} from ${agents} where ${agents.id} = ${agentId}
      ), held as (
        ${reserveAmount({ agent, month, tokens, cost })}
      ), holds as (
        ${insertInto(budgetHolds, hold)} from ${table} where ${granted}
      )
      select ${row}`;
  },
);

/** Reserves the amounts of several calls of one agent and month. Throws the 429. */
export async function reserveHolds(services: BudgetServices, holds: readonly [Hold, ...Hold[]]): Promise<void> {
  const { agentId, month } = holds[0];
  const sum = (of: keyof Amount) => holds.reduce((total, hold) => total + hold[of], 0);
  const held = { agentId, month, tokens: sum("tokens"), cost: sum("cost") };
  const [row] = await reserveStatement.run(services.database, { ...held, calls: JSON.stringify(holds) });
  if (!row?.held) throw await refusal(services, held, row ?? noLimits);
}

const gone = alias(budgetHolds, "gone");

/** Charges the deleted rows of `gone`, which have columns `used` and `cost_used` beside those of a hold. */
const charge = (deleted: SQL) => {
  const sum = (name: string) => sql`sum(${sql.identifier(name)}) as ${sql.identifier(name)}`;
  const used = { tokens: sql`sums.used`, cost: sql`sums.cost_used` };
  const charged = replaced(budgetPeriods, used, { tokens: sql`sums.tokens`, cost: sql`sums.cost` });
  return sql`
    with ${gone} as (${deleted}), sums as (
      select ${gone.agentId}, ${gone.month}, ${sum("tokens")}, ${sum("cost")}, ${sum("used")}, ${sum("cost_used")}
      from ${gone} group by 1, 2
    )
    update ${budgetPeriods} set ${assign(budgetPeriods, charged)} from sums
    where ${budgetPeriods.agentId} = sums.${column(gone.agentId)} and ${budgetPeriods.month} = sums.${column(gone.month)}`;
};

const columnsOfGone = sql`${budgetHolds.agentId}, ${budgetHolds.month}, ${budgetHolds.tokens}, ${budgetHolds.cost}`;

const settleStatement = statement({ calls: "jsonb" }, ({ calls }) => {
  const { table, row } = jsonRows(calls, "call", { id: budgetHolds.id, used: "int", cost_used: "bigint" });
  return charge(sql`
    delete from ${budgetHolds} using ${table} where ${budgetHolds.id} = ${row.id}
    returning ${columnsOfGone}, ${row.used}, ${row.cost_used}`);
});

/** Replaces holds by what their calls used. A hold that is settled already changes nothing. */
export async function settleHolds(database: Database, calls: readonly { id: string; used: Amount }[]): Promise<void> {
  const rows = calls.map(({ id, used }) => ({ id, used: used.tokens, cost_used: used.cost }));
  await settleStatement.run(database, { calls: JSON.stringify(rows) });
}

const settleLostStatement = statement({ living: "uuid[]" }, ({ living }) =>
  charge(sql`
    delete from ${budgetHolds} where ${hasLapsed(budgetHolds.leaseUntil)} and ${budgetHolds.id} <> all(${living})
    returning ${columnsOfGone}, ${budgetHolds.tokens} as used, ${budgetHolds.cost} as cost_used`),
);

/**
 * Settles the holds of dead processes. The usage of their calls is unknown, so the reserved amounts count as used.
 * `living` are the holds of this process.
 */
export async function settleLostHolds(database: Database, living: readonly string[]): Promise<void> {
  await settleLostStatement.run(database, { living });
}

const renewStatement = statement(
  { ids: "uuid[]" },
  ({ ids }) => sql`
    update ${budgetHolds} set ${assign(budgetHolds, { leaseUntil })} where ${budgetHolds.id} = any(${ids})`,
);

/** Renews the leases of holds. */
export async function renewHolds(database: Database, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await renewStatement.run(database, { ids });
}
