import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import { writeArray } from "../../db/arrays.ts";
import type { BoundedReads } from "../../db/bounded-reads.ts";
import type { Db } from "../../db/client.ts";
import { agents, usageRollups } from "../../db/schema.ts";
import { dateOf, type Period } from "../../http/period.ts";
import { findAgent, withinReach } from "../agents/index.ts";
import { type Sum, singles, sumsOf } from "./sums.ts";

/** The figures of a period and of the reachable agents. */
export interface Scope {
  tx: Db;
  /** `with`: the tables that `rows` needs. */
  tables: SQL;
  /** The rows of these sums, named as the table's columns. */
  rows(sum: Sum): SQL;
}

interface ScopeRequest {
  period: Period;
  /** The agent's slug; absent for all reachable agents. */
  instanceId?: string | undefined;
}

/**
 * Reads figures from one snapshot of the database. Throws the 404 of the agent, and the 429 and the 503 of
 * `BoundedReads`.
 */
export async function readWithin<T>(
  ctx: Ctx,
  reads: BoundedReads,
  { period, instanceId }: ScopeRequest,
  fn: (scope: Scope) => Promise<T>,
): Promise<T> {
  const agent = instanceId === undefined ? null : await findAgent(ctx, instanceId);
  const wanted = and(withinReach(ctx), agent ? eq(agents.id, agent.id) : undefined);
  return reads(ctx.database, async (tx) => {
    const [mark] = await tx.select({ until: usageRollups.until }).from(usageRollups);
    const { days, spans } = partsOf(period, mark?.until ?? new Date(0));
    const times = (of: keyof Period) => writeArray(spans.map((span) => span[of].toISOString()));
    const tables = sql`reached as materialized (select ${agents.id} from ${agents} where ${wanted}),
      spans as materialized (
        select * from unnest(${times("from")}::timestamptz[], ${times("to")}::timestamptz[]) as spans(begins, ends)
      ), ${singles}`;
    const named = days && { from: dateOf(days.from), to: dateOf(days.to) };
    return fn({ tx, tables, rows: (sum) => sumsOf(sum, named) });
  });
}

const dayMs = 24 * 60 * 60 * 1000;

const beginOfDay = (ms: number) => Math.floor(ms / dayMs) * dayMs;
const nextBegin = (ms: number) => Math.ceil(ms / dayMs) * dayMs;

/** The parts of a period, by the table from which their figures come. */
interface Parts {
  /** Whole UTC days with rolled-up figures; null for none. */
  days: Period | null;
  /** Periods whose turns are not rolled up yet, so they are added one by one. */
  spans: Period[];
}

/**
 * Divides a period so that every turn counts once: the rows of days contain exactly the turns created before `until`.
 */
export function partsOf({ from, to }: Period, until: Date): Parts {
  const [begin, end, rolled] = [from.getTime(), to.getTime(), until.getTime()];
  const firstDay = nextBegin(begin);
  // The row of the current day contains its rolled-up part.
  const endOfDays = end >= rolled ? nextBegin(rolled) : beginOfDay(end);
  if (endOfDays <= firstDay) return { days: null, spans: spansOf([begin, end]) };
  return { days: spanOf(firstDay, endOfDays), spans: spansOf([begin, firstDay], [Math.min(rolled, endOfDays), end]) };
}

const spanOf = (from: number, to: number): Period => ({ from: new Date(from), to: new Date(to) });

function spansOf(...spans: readonly (readonly [number, number])[]): Period[] {
  return spans.filter(([from, to]) => from < to).map(([from, to]) => spanOf(from, to));
}
