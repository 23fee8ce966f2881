import { type SQL, sql } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Services } from "../context/ctx.ts";
import { every } from "../core/time/every.ts";
import { isPast } from "../db/fragments.ts";

/** Rows of a table that are deleted by age. */
export interface OldRows {
  table: PgTable;
  /** The time from which the age counts. */
  since: PgColumn;
  /** The age at which rows are deleted, in milliseconds. Null: never, as a policy may decide. */
  afterMs: number | (() => number | null);
  /** The rows that are deleted; all when absent. */
  where?: SQL;
  /** The time between two searches for old rows, in milliseconds; an hour when absent. */
  everyMs?: number;
}

const hourMs = 3_600_000;

/** The most rows of one statement, and the most statements of one call: other upkeep must not wait for long. */
const [batchSize, mostBatches] = [1_000, 10];

/**
 * Returns one function for each table, which deletes its old rows; when some are left, the next call continues. Call
 * each every 10 seconds.
 */
export function deleteOldRows(
  { database, clock }: Pick<Services, "database" | "clock">,
  tables: readonly OldRows[],
): (() => Promise<void>)[] {
  return tables.map(({ table, since, afterMs, where, everyMs = hourMs }) => {
    const deleteBatch = async (now: number, ageMs: number) => {
      // Replicas may run at the same time: each skips rows that another one has locked.
      const old = sql`array(
        select ctid from ${table} where ${isPast(since, now, ageMs)} and ${where ?? sql`true`}
        order by ${since} limit ${batchSize} for update skip locked)`;
      const gone = await database.db.delete(table).where(sql`ctid = any(${old})`).returning({ found: sql`1` });
      return gone.length;
    };
    return every(clock, everyMs, async (now) => {
      const ageMs = typeof afterMs === "number" ? afterMs : afterMs();
      if (ageMs === null) return false;
      for (let batch = 0; batch < mostBatches; batch += 1) {
        if ((await deleteBatch(now, ageMs)) < batchSize) return true;
      }
      return false;
    });
  });
}
