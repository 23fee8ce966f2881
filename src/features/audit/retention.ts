import { count, sql } from "drizzle-orm";
import type { Services } from "../../context.ts";
import { every } from "../../core/time/every.ts";
import { isPast } from "../../db/age.ts";
import type { Db } from "../../db/client.ts";
import { auditLogs } from "../../db/schema.ts";

const everyMs = 60 * 60 * 1000;
const dayMs = 24 * 60 * 60 * 1000;

/** Entries that one call deletes at most, so that no other upkeep waits for it. */
const batchSize = 10_000;

/**
 * Upkeep: deletes the entries of all organizations and of none that are older than the policy `retentionDays`, once an
 * hour. While more are left than one batch, every call deletes a batch.
 */
export function createRetention({ database, clock, policies }: Services): () => Promise<void> {
  return every(clock, everyMs, async (now) => {
    const { retentionDays } = policies.values;
    if (retentionDays === null) return false;
    return (await deleteBatch(database.db, now, retentionDays * dayMs)) < batchSize;
  });
}

/** How many entries it deleted. Replicas may call it at the same time: each skips the rows that another one holds. */
async function deleteBatch(db: Db, now: number, keptMs: number): Promise<number> {
  const oldest = db
    .select({ id: auditLogs.id })
    .from(auditLogs)
    .where(isPast(auditLogs.createdAt, now, keptMs))
    .orderBy(auditLogs.createdAt, auditLogs.id)
    .limit(batchSize)
    .for("update", { skipLocked: true });
  const gone = db.$with("gone").as(
    db
      .delete(auditLogs)
      // As an array the rows are selected once; a join could run the subquery again and lock other rows.
      .where(sql`${auditLogs.id} = any(array${oldest})`)
      .returning({ id: auditLogs.id }),
  );
  const [batch] = await db.with(gone).select({ deleted: count() }).from(gone);
  return batch?.deleted ?? 0;
}
