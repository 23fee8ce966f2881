import { writeArray } from "../db/arrays.ts";
import type { Database } from "../db/client.ts";
import { commonLane } from "../db/work.ts";
import { leaseMs } from "./queue.ts";

export interface InLane {
  kind: string;
  /** Whose turn it is: the id of an organization, or `commonLane`. */
  lane: string;
}

/** How many jobs of one kind a process may take. */
export interface Places {
  kind: string;
  /** At least 1. */
  free: number;
  /** How many jobs of one lane the process may run, running ones included. */
  share: number;
  /** The lane that was served last; its turn comes after all others. */
  after: string;
}

export interface ClaimedJob extends InLane {
  id: string;
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
  /** Jobs that a dead process left come first, then lanes take turns. */
  claimed: ClaimedJob[];
  /** Jobs given up now, since the process of their last attempt died. */
  dead: DeadJob[];
  /** When the next job falls due, in milliseconds since the epoch. */
  next_at: number | null;
}

/** The expression that `jobs_lanes` is an index of. */
const lane = `coalesce(organization_id, '${commonLane}'::uuid)`;

const now = "(select now from given)";

const isDue = `status = 'pending' and locked_until is null and run_at <= ${now}`;

/** A job waits while another one of its kind and key runs. */
const isFree = `${isDue} and not exists (select 1 from busy b where b.kind = j.kind and b.key = j.key)`;

const asked = "kind = any(array(select kind from places))";

/** How many places a lane of `p.kind` has left. */
const roomOf = (lane: string, taken: string) =>
  `p.share - (select count(*) from ${taken} t where t.kind = p.kind and t.lane = ${lane})`;

const countOf = (source: string) => `(select count(*) from ${source} t where t.kind = p.kind)`;

/**
 * The lanes of `p.kind` with due jobs, once around from the one after `p.after`. Each is one step in the index, and is
 * looked for only while there are places to fill.
 */
const lanes = `(
  with recursive walk as (
    select p.after as lane, false as wrapped
    union all
    select next.lane, next.wrapped from walk w cross join lateral (
      (select ${lane} as lane, w.wrapped from jobs
        where kind = p.kind and ${isDue} and ${lane} > w.lane and (not w.wrapped or ${lane} <= p.after) order by 1 limit 1)
      union all
      (select ${lane}, true from jobs where kind = p.kind and ${isDue} and not w.wrapped and ${lane} <= p.after order by 1 limit 1)
      limit 1
    ) next
  ) select lane from walk offset 1
)`;

/**
 * $1 now, $2 to $5 the places, $6 and $7 the kinds and lanes of running jobs, $8 the lock, $9 the end of the lease. A job
 * whose process died goes before new ones. Then each lane gets one place before any lane gets more. Exact for any number
 * of processes. The planner's figures of a table that fills and empties all the time are wrong, so each part has only one
 * good plan: along an index, up to a limit.
 */
const claimStatement = `
with given as materialized (
  select $1::timestamptz as now, $2::text[] as kinds, $3::int[] as free, $4::int[] as share, $5::uuid[] as after,
    $6::text[] as running, $7::uuid[] as lanes
), places as materialized (
  select p.* from given cross join unnest(given.kinds, given.free, given.share, given.after) as p(kind, free, share, after)
), running as materialized (
  select r.* from given cross join unnest(given.running, given.lanes) as r(kind, lane)
), busy as materialized (
  select kind, key from jobs where ${asked} and locked_until is not null
), expired as materialized (
  select id, kind, ${lane} as lane, locked_until, attempts < max_attempts as again from jobs
  where ${asked} and locked_until < ${now} for update skip locked
), dead as (
  update jobs set status = 'failed', failed_at = ${now}, locked_by = null, locked_until = null,
    last_error = 'The process ended while it ran this job'
  where id = any(array(select id from expired where not again)) returning id, kind, key, attempts, last_error
), abandoned as (
  select p.kind, a.lane, a.id, 1 as round, a.nth from places p cross join lateral (
    select lane, id, row_number() over (order by locked_until, id) as nth from (
      select *, row_number() over (partition by lane order by locked_until, id) as nth from expired where kind = p.kind and again
    ) e where nth <= ${roomOf("e.lane", "running")} order by locked_until, id limit p.free
  ) a
), taken as (
  select kind, lane from running union all select kind, lane from abandoned
), first as (
  select p.kind, f.lane, f.id, 2 as round, f.nth from places p cross join lateral (
    select l.lane, d.id, row_number() over () as nth from ${lanes} l cross join lateral (
      select id from jobs j where kind = p.kind and ${lane} = l.lane and ${isFree}
        and ${roomOf("l.lane", "taken")} > 0
      order by run_at, id limit 1 for update skip locked
    ) d limit p.free - ${countOf("abandoned")}
  ) f
), further as (
  select p.kind, f.lane, f.id, 3 as round, f.nth from places p cross join lateral (
    select l.lane, d.id, row_number() over () as nth from first l cross join lateral (
      select id from jobs j where kind = p.kind and ${lane} = l.lane and ${isFree} and id <> all(array(select id from first))
      order by run_at, id limit ${roomOf("l.lane", "taken")} - 1 for update skip locked
    ) d where l.kind = p.kind limit p.free - ${countOf("abandoned")} - ${countOf("first")}
  ) f
), chosen as (
  select * from abandoned union all select * from first union all select * from further
), claimed as (
  update jobs set locked_by = $8::uuid, locked_until = $9::timestamptz, attempts = attempts + 1
  where id = any(array(select id from chosen))
  returning id, kind, key, ${lane} as lane, payload, attempts, max_attempts
)
select
  (select coalesce(jsonb_agg(to_jsonb(c) order by o.round, o.nth), '[]') from claimed c join chosen o on o.id = c.id) as claimed,
  (select coalesce(jsonb_agg(to_jsonb(d)), '[]') from dead d) as dead,
  (select (extract(epoch from min(run_at)) * 1000)::float8 from jobs
    where status = 'pending' and locked_until is null and run_at > ${now} and ${asked}) as next_at`;

interface Asked {
  /** Of each kind that has a free place. */
  places: readonly Places[];
  /** What this process runs. */
  running: readonly InLane[];
  lock: string;
  now: number;
}

/** Takes jobs that are due, as far as there are places for their kinds and lanes. */
export async function claim(database: Database, { places, running, lock, now }: Asked): Promise<Claim> {
  const [row] = await database.query<Claim>(claimStatement, [
    new Date(now).toISOString(),
    writeArray(places.map(({ kind }) => kind)),
    writeArray(places.map(({ free }) => String(free))),
    writeArray(places.map(({ share }) => String(share))),
    writeArray(places.map(({ after }) => after)),
    writeArray(running.map(({ kind }) => kind)),
    writeArray(running.map(({ lane }) => lane)),
    lock,
    new Date(now + leaseMs).toISOString(),
  ]);
  if (!row) throw new Error("The claim answered no row");
  return row;
}
