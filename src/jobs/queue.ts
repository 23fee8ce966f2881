import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Services } from "../context/ctx.ts";
import { Batcher } from "../core/limits/batcher.ts";
import { type Database, sqlState } from "../db/client.ts";
import { assign, fields, type RowOf } from "../db/fragments.ts";
import { jobs } from "../db/schema.ts";
import { statement } from "../db/statement.ts";
import { leaseUntil } from "./heartbeat.ts";

/** A claim of a job by this process. */
export interface JobClaim {
  id: string;
  lock: string;
}

const renewStatement = statement(
  { ids: "uuid[]", locks: "uuid[]" },
  ({ ids, locks }) => sql<RowOf<typeof returned>>`
    update ${jobs} set ${assign(jobs, { lockedUntil: leaseUntil })} from unnest(${ids}, ${locks}) as held(id, lock)
    where ${isHeldBy(ids)} returning ${returned}`,
);

/** Renews the leases of these jobs. The results say which jobs the caller still holds. */
export async function renew(database: Database, held: readonly JobClaim[]): Promise<boolean[]> {
  return areIn(held, await renewStatement.run(database, pairsOf(held)));
}

/** Stores the ends of jobs. The results say whether the caller still held the job. */
export interface Settling {
  /** Deletes a finished job. */
  complete(job: JobClaim): Promise<boolean>;
  /** Frees a job for a later time or another process. A job of the same key that was enqueued meanwhile replaces it. */
  setBack(job: SetBack): Promise<boolean>;
}

interface SetBack extends JobClaim {
  /** Null keeps the stored time. */
  runAt: number | null;
  /** Null keeps the stored error. */
  error: string | null;
  /** Whether the attempt is counted. */
  counts: boolean;
}

/** Ends of jobs have their own batches, so that they don't wait for the statements of other work. */
export function createSettling({ database, clock }: Pick<Services, "database" | "clock">): Settling {
  const batcher = new Batcher(clock);
  const complete = async (held: readonly JobClaim[]) =>
    areIn(held, await completeStatement.run(database, pairsOf(held)));
  const setBack = async (items: readonly SetBack[]) => {
    try {
      return areIn(items, await setBackStatement.run(database, { ...pairsOf(items), ...changesOf(items) }));
    } catch (error) {
      // Only one job of a kind and key may wait (`jobs_key`): a newer one is waiting already and does the work.
      if (items.length > 1 || sqlState(error) !== "23505") throw error;
      return complete(items);
    }
  };
  return { complete: (job) => batcher.run(complete, job), setBack: (job) => batcher.run(setBack, job) };
}

const pairsOf = (held: readonly JobClaim[]) => ({ ids: held.map(({ id }) => id), locks: held.map(({ lock }) => lock) });

const changesOf = (items: readonly SetBack[]) => ({
  runAts: items.map(({ runAt }) => (runAt === null ? "" : new Date(runAt).toISOString())),
  errors: items.map(({ error }) => error ?? ""),
  counts: items.map(({ counts }) => (counts ? "1" : "0")),
});

function areIn(held: readonly JobClaim[], rows: readonly { id: string; lock: string | null }[]): boolean[] {
  const found = new Set(rows.map(({ id, lock }) => lock + id));
  return held.map(({ id, lock }) => found.has(lock + id));
}

const returned = fields({ id: jobs.id, lock: sql<string>`held.lock` });

/** The condition on the ids makes the planner use the primary key, whatever its statistics are. */
const isHeldBy = (ids: SQL) => sql`${jobs.id} = any(${ids}) and ${jobs.id} = held.id and ${jobs.lockedBy} = held.lock`;

const completeStatement = statement(
  { ids: "uuid[]", locks: "uuid[]" },
  ({ ids, locks }) => sql<RowOf<typeof returned>>`
    delete from ${jobs} using unnest(${ids}, ${locks}) as held(id, lock) where ${isHeldBy(ids)} returning ${returned}`,
);

const setBackStatement = statement(
  { ids: "uuid[]", locks: "uuid[]", runAts: "text[]", errors: "text[]", counts: "text[]" },
  ({ ids, locks, runAts, errors, counts }) => sql<RowOf<typeof returned>>`
    update ${jobs} set ${assign(jobs, {
      runAt: sql`coalesce(nullif(held.run_at, '')::timestamptz, ${jobs.runAt})`,
      lastError: sql`coalesce(nullif(held.error, ''), ${jobs.lastError})`,
      attempts: sql`${jobs.attempts} - 1 + held.counts::int`,
      lockedBy: sql`null`,
      lockedUntil: sql`null`,
    })}
    from unnest(${ids}, ${locks}, ${runAts}, ${errors}, ${counts}) as held(id, lock, run_at, error, counts)
    where ${isHeldBy(ids)} returning ${returned}`,
);

/** Stores that the job failed for good. Returns false when the caller no longer held it. */
export async function giveUp(
  { db }: Database,
  { id, lock }: JobClaim,
  { now, error }: { now: number; error: string },
): Promise<boolean> {
  const failed = { status: "failed", failedAt: new Date(now), lastError: error, lockedBy: null, lockedUntil: null };
  const mine = and(eq(jobs.id, id), eq(jobs.lockedBy, lock));
  return (await db.update(jobs).set(failed).where(mine).returning({ id: jobs.id })).length > 0;
}
