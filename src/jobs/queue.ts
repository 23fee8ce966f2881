import { and, eq, isNotNull, sql } from "drizzle-orm";
import type { PgUpdateSetSource } from "drizzle-orm/pg-core";
import { type Database, sqlState } from "../db/client.ts";
import { assign, fields } from "../db/fragments.ts";
import { jobs } from "../db/schema.ts";
import { statement } from "../db/statement.ts";

/** How long a job counts as running after its lease was last renewed. */
export const leaseMs = 30_000;

/** A job that a process runs. */
export interface Held {
  id: string;
  lock: string;
}

const renewStatement = statement(
  { ids: "uuid[]", locks: "uuid[]", until: "timestamptz" },
  // An earlier renewal that was held up may end after a later one.
  ({ ids, locks, until }) => sql<{ id: string; lock: string | null }>`
    update ${jobs} set ${assign(jobs, { lockedUntil: sql`greatest(${jobs.lockedUntil}, ${until})` })} from unnest(${ids}, ${locks}) as held(id, lock)
    where ${jobs.id} = held.id and ${jobs.lockedBy} = held.lock
    returning ${fields({ id: jobs.id, lock: jobs.lockedBy })}`,
);

/** Renews the leases of these jobs. Answers those that are still the caller's, as lock and id in one text. */
export async function renew(database: Database, held: readonly Held[], now: number): Promise<Set<string>> {
  const rows = await renewStatement.run(database, {
    ids: held.map(({ id }) => id),
    locks: held.map(({ lock }) => lock),
    until: new Date(now + leaseMs),
  });
  return new Set(rows.map(({ lock, id }) => lock + id));
}

/** Ends the leases of all jobs at once, where it is certain that the processes which ran them are gone. */
export async function endLeases({ db }: Database): Promise<void> {
  await db
    .update(jobs)
    .set({ lockedUntil: new Date(0) })
    .where(isNotNull(jobs.lockedUntil));
}

/** Deletes a job that is done. Answers false when it was no longer the caller's, as do `retry`, `release` and `giveUp`. */
export async function complete({ db }: Database, held: Held): Promise<boolean> {
  const rows = await db.delete(jobs).where(isHeld(held)).returning({ id: jobs.id });
  return rows.length > 0;
}

/** Has the job tried again at `runAt`; a job of its key that was enqueued meanwhile takes its place. */
export function retry(
  database: Database,
  held: Held,
  { runAt, error }: { runAt: number; error: string },
): Promise<boolean> {
  return unlessNewer(database, held, () => stop(database, held, { runAt: new Date(runAt), lastError: error }));
}

/** Frees the job for other processes at once; this attempt does not count. */
export function release(database: Database, held: Held): Promise<boolean> {
  return unlessNewer(database, held, () => stop(database, held, { attempts: sql`${jobs.attempts} - 1` }));
}

/** Notes that the job failed for good. */
export function giveUp(
  database: Database,
  held: Held,
  { now, error }: { now: number; error: string },
): Promise<boolean> {
  return stop(database, held, { status: "failed", failedAt: new Date(now), lastError: error });
}

const isHeld = ({ id, lock }: Held) => and(eq(jobs.id, id), eq(jobs.lockedBy, lock));

/** Changes a job that runs into one that does not. */
async function stop({ db }: Database, held: Held, change: PgUpdateSetSource<typeof jobs>): Promise<boolean> {
  const stopped = { ...change, lockedBy: null, lockedUntil: null };
  const rows = await db.update(jobs).set(stopped).where(isHeld(held)).returning({ id: jobs.id });
  return rows.length > 0;
}

/** Only one job of a kind and key may wait (`jobs_key`), so a newer one that waits takes over the work of the caller's. */
async function unlessNewer(database: Database, held: Held, update: () => Promise<boolean>): Promise<boolean> {
  try {
    return await update();
  } catch (error) {
    if (sqlState(error) !== "23505") throw error;
    return complete(database, held);
  }
}
