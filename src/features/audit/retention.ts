import type { Services } from "../../context.ts";

const everyMs = 60 * 60 * 1000;
const dayMs = 24 * 60 * 60 * 1000;

/** What one call deletes at most, so that no other upkeep waits for it. */
const batchSize = 10_000;

/** Replicas may do this at the same time: each skips what another one holds. */
const deleteBatch = `
with gone as (
  delete from audit_logs where id = any(array(
    select id from audit_logs where created_at < $1::timestamptz order by created_at, id limit ${batchSize}
    for update skip locked
  )) returning 1
) select count(*)::int as deleted from gone`;

/**
 * Upkeep: deletes the entries of all organizations and of none that are older than the policy `retentionDays` says.
 * Once an hour, and while there is more to delete with every call.
 */
export function createRetention({ database, clock, policies }: Services): () => Promise<void> {
  let dueAt = 0;
  return async () => {
    const { retentionDays } = policies.values;
    const now = clock.now();
    if (retentionDays === null || now < dueAt) return;
    const before = new Date(now - retentionDays * dayMs).toISOString();
    const [batch] = await database.query<{ deleted: number }>(deleteBatch, [before]);
    if ((batch?.deleted ?? 0) < batchSize) dueAt = now + everyMs;
  };
}
