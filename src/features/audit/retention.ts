import { count, lt, sql } from "drizzle-orm";
import type { Services } from "../../context.ts";
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
  let dueAt = 0;
  return async () => {
    const { retentionDays } = policies.values;
    const now = clock.now();
    if (retentionDays === null || now < dueAt) return;
    const deleted = await deleteBatch(database.db, new Date(now - retentionDays * dayMs));
    if (deleted < batchSize) dueAt = now + everyMs;
  };
}

/** How many entries it deleted. Replicas may call it at the same time: each skips the rows that another one holds. */
async function deleteBatch(db: Db, before: Date): Promise<number> {
  const oldest = db
    .select({ id: auditLogs.id })
    .from(auditLogs)
    .where(lt(auditLogs.createdAt, before))
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
