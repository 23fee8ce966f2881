import { type Column, type SQL, sql, type Table } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { every } from "../../../core/time/every.ts";
import { type Database, queriesOf } from "../../../db/client.ts";
import { assign, fields, jsonRows, type RowOf } from "../../../db/fragments.ts";
import { agents, budgetHolds, budgetPeriods, isOpen, turns, userBudgetPeriods } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";

// The reserved tokens and costs of a budget are those of its open turns and background calls. They differ after a process
// was killed between reserving for a turn that found its conversation's queue full and releasing them.

/** The periods of one kind of budget, and its reservations: rows of `agent_id`, `subject`, `month`, `tokens` and `cost`. */
interface Kind {
  periods: Table & Record<"agentId" | "month" | "reserved" | "costReserved", Column>;
  subject: SQL | Column;
  held: SQL;
}

const openTurns = sql`from ${turns} where ${isOpen(turns)} and ${turns.budgetMonth} is not null`;

const ofAgents: Kind = {
  periods: budgetPeriods,
  subject: sql`''`,
  held: sql`
    select ${turns.agentId}, '' as subject, ${turns.budgetMonth} as month, ${turns.reserved} as tokens,
      ${turns.costReserved} as cost ${openTurns}
    union all select ${budgetHolds.agentId}, '', ${budgetHolds.month}, ${budgetHolds.tokens}, ${budgetHolds.cost}
    from ${budgetHolds}`,
};

const ofUsers: Kind = {
  periods: userBudgetPeriods,
  subject: userBudgetPeriods.subject,
  held: sql`
    select ${turns.agentId}, ${turns.subject}, ${turns.budgetMonth} as month, ${turns.userReserved} as tokens,
      ${turns.userCostReserved} as cost ${openTurns}`,
};

/** Tables for `from`, and a condition: the periods whose reservations differ, and the right ones as `held`. */
function differing({ periods, subject, held }: Kind) {
  const from = sql`${periods} left join (
    select agent_id, subject, month, sum(tokens) as tokens, sum(cost) as cost from (${held}) as held group by 1, 2, 3
  ) as held on held.agent_id = ${periods.agentId} and held.subject = ${subject} and held.month = ${periods.month}`;
  const where = sql`(${periods.reserved} <> coalesce(held.tokens, 0) or ${periods.costReserved} <> coalesce(held.cost, 0))`;
  return { from, where };
}

const keyShape = { agentId: budgetPeriods.agentId, subject: "text", month: "text" } as const;

function correction(kind: Kind) {
  const { periods, subject, held } = kind;
  const { from, where } = differing(kind);
  const key = fields({
    agentId: periods.agentId,
    subject: sql<string>`${subject}`,
    month: sql<string>`${periods.month}::text`,
  });
  const lock = statement(
    {},
    () => sql<RowOf<typeof key>>`select ${key} from ${from} where ${where} order by 1, 2, 3 for update of ${periods}`,
  );
  const correct = statement({ keys: "jsonb" }, ({ keys }) => {
    const { table, row } = jsonRows(keys, "period", keyShape);
    const sum = (of: SQL) => sql`(
      select coalesce(sum(${of}), 0) from (${held}) as held
      where held.agent_id = ${periods.agentId} and held.subject = ${subject} and held.month = ${periods.month}
    )`;
    const right = { reserved: sum(sql`tokens`), costReserved: sum(sql`cost`) };
    return sql`
      update ${periods} set ${assign(periods, right)} from ${table}
      where ${periods.agentId} = ${row.agentId} and ${subject} = ${row.subject} and ${periods.month} = ${row.month}::date`;
  });
  return { lock, correct };
}

const corrections = [ofAgents, ofUsers].map(correction);

const everyMs = 60 * 60 * 1000;

/** Upkeep: releases reserved tokens and costs that belong to no open turn and no background call, once an hour. */
export function createCorrectedBudgets({ database, clock }: Services): () => Promise<void> {
  return every(clock, everyMs, async () => {
    for (const { lock, correct } of corrections) {
      await database.transaction(async (tx) => {
        const queries = queriesOf(tx);
        const keys = await lock.run(queries, {});
        // A statement of its own: it sees the turns of those who held the locks before.
        if (keys.length > 0) await correct.run(queries, { keys: JSON.stringify(keys) });
      });
    }
    return true;
  });
}

/** What agents' budgets hold for no open turn and no background call. */
export interface BudgetsReport {
  tokens: number;
  /** In micros. */
  cost: number;
  /** The agents with the most. */
  slugs: string[];
}

const driftStatement = statement({}, () => {
  const { from, where } = differing(ofAgents);
  const row = fields({
    slug: agents.slug,
    tokens: sql<number>`(${budgetPeriods.reserved} - coalesce(held.tokens, 0))::float8`,
    cost: sql<number>`(${budgetPeriods.costReserved} - coalesce(held.cost, 0))::float8`,
  });
  return sql<RowOf<typeof row>>`
    select ${row} from ${from} join ${agents} on ${agents.id} = ${budgetPeriods.agentId} where ${where}
    order by tokens desc, cost desc`;
});

/** Reads what agents' budgets hold without a call. Changes nothing. */
export async function inspectBudgets(database: Database): Promise<BudgetsReport> {
  const rows = (await driftStatement.run(database, {})).filter(({ tokens, cost }) => tokens > 0 || cost > 0);
  const sum = (of: "tokens" | "cost") => rows.reduce((total, row) => total + Math.max(0, row[of]), 0);
  return { tokens: sum("tokens"), cost: sum("cost"), slugs: rows.map(({ slug }) => slug) };
}
