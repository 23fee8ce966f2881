import { writeArray } from "../db/arrays.ts";
import { type Database, sqlState } from "../db/client.ts";

/** How long a job is believed to be worked on after its last sign of life. */
export const leaseMs = 30_000;

export interface ClaimedJob {
  id: string;
  kind: string;
  key: string | null;
  payload: unknown;
  /** This one included. */
  attempts: number;
  max_attempts: number;
}

export interface DeadJob {
  id: string;
  kind: string;
  key: string | null;
  attempts: number;
  last_error: string;
}

export interface Claim {
  claimed: ClaimedJob[];
  /** Given up now: their last process died on them. */
  dead: DeadJob[];
  /** When the next job falls due, in milliseconds since the epoch. */
  next_at: number | null;
}

/** What names a job that somebody runs. */
export interface Held {
  id: string;
  lock: string;
}

/**
 * $1 now, $2 the kinds, $3 how many, $4 the lock, $5 the end of the lease. A job whose process died goes before new
 * ones; a job waits while another one of its kind and key runs. Exact for any number of processes.
 */
const claimStatement = `
with dead as (
  update jobs set status = 'failed', failed_at = $1::timestamptz, locked_by = null, locked_until = null,
    last_error = 'The process ended while it ran this job'
  where id in (
    select id from jobs
    where status = 'pending' and locked_until < $1::timestamptz and attempts >= max_attempts and kind = any($2::text[])
    for update skip locked
  ) returning id, kind, key, attempts, last_error
), abandoned as (
  select id from jobs
  where status = 'pending' and locked_until < $1::timestamptz and attempts < max_attempts and kind = any($2::text[])
  order by locked_until limit $3::int for update skip locked
), due as (
  select id from jobs j
  where status = 'pending' and locked_until is null and run_at <= $1::timestamptz and kind = any($2::text[]) and not exists (
    select 1 from jobs r where r.locked_until is not null and r.kind = j.kind and r.key = j.key
  )
  order by run_at, id limit $3::int for update skip locked
), claimed as (
  update jobs j set locked_by = $4::uuid, locked_until = $5::timestamptz, attempts = j.attempts + 1
  from (select id from abandoned union all select id from due limit $3::int) chosen where j.id = chosen.id
  returning j.id, j.kind, j.key, j.payload, j.attempts, j.max_attempts, j.run_at
)
select
  (select coalesce(jsonb_agg(to_jsonb(c) - 'run_at' order by c.run_at, c.id), '[]') from claimed c) as claimed,
  (select coalesce(jsonb_agg(to_jsonb(d)), '[]') from dead d) as dead,
  (select (extract(epoch from min(run_at)) * 1000)::float8 from jobs
    where status = 'pending' and locked_until is null and run_at > $1::timestamptz and kind = any($2::text[])) as next_at`;

/** Takes up to `limit` jobs of these kinds that are due. */
export async function claim(
  database: Database,
  { kinds, limit, lock, now }: { kinds: readonly string[]; limit: number; lock: string; now: number },
): Promise<Claim> {
  const [row] = await database.query<Claim>(claimStatement, [
    new Date(now).toISOString(),
    writeArray(kinds),
    limit,
    lock,
    new Date(now + leaseMs).toISOString(),
  ]);
  if (!row) throw new Error("The claim answered no row");
  return row;
}

/** Says that these are still worked on. Answers those that are still the caller's, by lock and id. */
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

/** The job is done. Answers false when it was no longer the caller's, as all that follow do. */
export async function complete(database: Database, { id, lock }: Held): Promise<boolean> {
  const rows = await database.query("delete from jobs where id = $1 and locked_by = $2 returning 1 as done", [
    id,
    lock,
  ]);
  return rows.length > 0;
}

/** The job is to be tried again at `runAt`; if the same work was enqueued meanwhile, that will do. */
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

/** The job is free for others at once, and this attempt does not count. */
export async function release(database: Database, { id, lock }: Held): Promise<boolean> {
  return unlessNewer(database, { id, lock }, () =>
    database.query(
      `update jobs set locked_by = null, locked_until = null, attempts = attempts - 1
       where id = $1 and locked_by = $2 returning 1 as kept`,
      [id, lock],
    ),
  );
}

/** The job failed for good. */
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

/** Only one job of a kind and key may wait: where a newer one does, the caller's is that one's work. */
async function unlessNewer(database: Database, held: Held, update: () => Promise<object[]>): Promise<boolean> {
  try {
    return (await update()).length > 0;
  } catch (error) {
    if (sqlState(error) !== "23505") throw error;
    return complete(database, held);
  }
}
