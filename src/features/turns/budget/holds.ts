import { type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Services } from "../../../context/ctx.ts";
import type { Database } from "../../../db/client.ts";
import { assign, column, fields, insertInto, jsonRows, only, type RowOf } from "../../../db/fragments.ts";
import { agents, budgetHolds, budgetPeriods } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import { hasLapsed, leaseUntil } from "../../../jobs/heartbeat.ts";
import { budgetSpent, reserveTokens } from "./budget.ts";

// The tokens that background calls reserve in agents' budgets. Each call has a row under a lease, so that a repeated
// settlement charges nothing twice, and so that the tokens of a dead process's call are settled by others.

/** The tokens that one call reserves. */
export interface Hold {
  id: string;
  agentId: string;
  /** As `Reservation.month`. */
  month: string;
  tokens: number;
}

const reserveStatement = statement(
  { agentId: "uuid", month: "date", total: "int", calls: "jsonb" },
  ({ agentId, month, total, calls }) => {
    const agent = alias(agents, "agent");
    const granted = sql`exists (select 1 from held where granted)`;
    const row = fields({ held: sql<boolean>`${granted}`, budget: only(agent.monthlyTokenBudget) });
    const { table, row: call } = jsonRows(calls, "call", { id: budgetHolds.id, tokens: budgetHolds.tokens });
    const hold = { ...call, agentId, month, leaseUntil };
    return sql<RowOf<typeof row>>`
      with ${agent} as (
        select ${agents.id}, ${agents.monthlyTokenBudget} from ${agents} where ${agents.id} = ${agentId}
      ), held as (
        ${reserveTokens({ agent, month, tokens: total })}
      ), holds as (
        ${insertInto(budgetHolds, hold)} from ${table} where ${granted}
      )
      select ${row}`;
  },
);

/** Reserves the tokens of several calls of one agent and month. Throws the 429. */
export async function reserveHolds(
  { database, clock }: Pick<Services, "database" | "clock">,
  holds: readonly [Hold, ...Hold[]],
): Promise<void> {
  const { agentId, month } = holds[0];
  const total = holds.reduce((sum, { tokens }) => sum + tokens, 0);
  const [row] = await reserveStatement.run(database, { agentId, month, total, calls: JSON.stringify(holds) });
  if (!row?.held) throw budgetSpent("agent", Number(row?.budget ?? 0), clock.now());
}

const gone = alias(budgetHolds, "gone");

/** Charges the deleted rows of `gone`, which have a column `used` beside those of a hold. */
const charge = (deleted: SQL) => {
  const charged = {
    used: sql`${budgetPeriods.used} + sums.used`,
    reserved: sql`greatest(0, ${budgetPeriods.reserved} - sums.tokens)`,
  };
  return sql`
    with ${gone} as (${deleted}), sums as (
      select ${gone.agentId}, ${gone.month}, sum(${gone.tokens}) as tokens, sum(used) as used from ${gone} group by 1, 2
    )
    update ${budgetPeriods} set ${assign(budgetPeriods, charged)} from sums
    where ${budgetPeriods.agentId} = sums.${column(gone.agentId)} and ${budgetPeriods.month} = sums.${column(gone.month)}`;
};

const columnsOfGone = sql`${budgetHolds.agentId}, ${budgetHolds.month}, ${budgetHolds.tokens}`;

const settleStatement = statement({ calls: "jsonb" }, ({ calls }) => {
  const { table, row } = jsonRows(calls, "call", { id: budgetHolds.id, used: "int" });
  return charge(sql`
    delete from ${budgetHolds} using ${table} where ${budgetHolds.id} = ${row.id}
    returning ${columnsOfGone}, ${row.used}`);
});

/** Replaces holds by the tokens that their calls used. A hold that is settled already changes nothing. */
export async function settleHolds(database: Database, calls: readonly { id: string; used: number }[]): Promise<void> {
  await settleStatement.run(database, { calls: JSON.stringify(calls) });
}

const settleLostStatement = statement({ living: "uuid[]" }, ({ living }) =>
  charge(sql`
    delete from ${budgetHolds} where ${hasLapsed(budgetHolds.leaseUntil)} and ${budgetHolds.id} <> all(${living})
    returning ${columnsOfGone}, ${budgetHolds.tokens} as used`),
);

/**
 * Settles the holds of dead processes. The usage of their calls is unknown, so the reserved tokens count as used.
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
