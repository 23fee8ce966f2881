import { writeArray } from "../db/arrays.ts";
import { type Database, sqlState } from "../db/client.ts";

/** How long a job counts as running after its lease was last renewed. */
export const leaseMs = 30_000;

/** A job that a process runs. */
export interface Held {
  id: string;
  lock: string;
}

/** Renews the leases of these jobs. Answers those that are still the caller's, as lock and id in one text. */
export async function renew(database: Database, held: readonly Held[], now: number): Promise<Set<string>> {
  const rows = await database.query<Held>(
    `update jobs j set locked_until = $3::timestamptz
     from unnest($1::uuid[], $2::uuid[]) as h(id, lock) where j.id = h.id and j.locked_by = h.lock
     returning j.id, j.locked_by as lock`,
    [
      writeArray(held.map(({ id }) => id)),
      writeArray(held.map(({ lock }) => lock)),
      new Date(now + leaseMs).toISOString(),
    ],
  );
  return new Set(rows.map(({ lock, id }) => lock + id));
}

/** Deletes a job that is done. Answers false when it was no longer the caller's, as do `retry`, `release` and `giveUp`. */
export async function complete(database: Database, { id, lock }: Held): Promise<boolean> {
  const rows = await database.query("delete from jobs where id = $1 and locked_by = $2 returning 1 as done", [
    id,
    lock,
  ]);
  return rows.length > 0;
}

/** Has the job tried again at `runAt`; a job of its key that was enqueued meanwhile takes its place. */
export async function retry(
  database: Database,
  { id, lock }: Held,
  { runAt, error }: { runAt: number; error: string },
): Promise<boolean> {
  return unlessNewer(database, { id, lock }, () =>
    database.query(
      `update jobs set locked_by = null, locked_until = null, run_at = $3::timestamptz, last_error = $4
       where id = $1 and locked_by = $2 returning 1 as kept`,
      [id, lock, new Date(runAt).toISOString(), error],
    ),
  );
}

/** Frees the job for other processes at once; this attempt does not count. */
export async function release(database: Database, { id, lock }: Held): Promise<boolean> {
  return unlessNewer(database, { id, lock }, () =>
    database.query(
      `update jobs set locked_by = null, locked_until = null, attempts = attempts - 1
       where id = $1 and locked_by = $2 returning 1 as kept`,
      [id, lock],
    ),
  );
}

/** Notes that the job failed for good. */
export async function giveUp(
  database: Database,
  { id, lock }: Held,
  { now, error }: { now: number; error: string },
): Promise<boolean> {
  const rows = await database.query(
    `update jobs set status = 'failed', failed_at = $3::timestamptz, last_error = $4, locked_by = null,
       locked_until = null
     where id = $1 and locked_by = $2 returning 1 as failed`,
    [id, lock, new Date(now).toISOString(), error],
  );
  return rows.length > 0;
}

/** Only one job of a kind and key may wait (`jobs_key`), so a newer one that waits takes over the work of the caller's. */
async function unlessNewer(database: Database, held: Held, update: () => Promise<object[]>): Promise<boolean> {
  try {
    return (await update()).length > 0;
  } catch (error) {
    if (sqlState(error) !== "23505") throw error;
    return complete(database, held);
  }
}
