import { type SQL, sql } from "drizzle-orm";
import { assign, fields, type RowOf } from "../db/fragments.ts";
import { jobs } from "../db/schema.ts";
import { statement } from "../db/statement.ts";
import { commonLane } from "../db/tables/work.ts";
import { hasLapsed, leaseUntil } from "./heartbeat.ts";

/** The expression of the index `jobs_lanes`: a job's organization, or `commonLane`. */
export const lane = sql<string>`coalesce(${jobs.organizationId}, ${commonLane}::uuid)`;

const claimedFields = fields({
  id: jobs.id,
  kind: jobs.kind,
  key: jobs.key,
  lane,
  payload: jobs.payload,
  attempts: jobs.attempts,
  maxAttempts: jobs.maxAttempts,
});

const deadFields = fields({
  id: jobs.id,
  kind: jobs.kind,
  key: jobs.key,
  attempts: jobs.attempts,
  lastError: jobs.lastError,
});

/** A claimed job; `attempts` includes this one. */
export type ClaimedJob = RowOf<typeof claimedFields>;

/** A job that was given up, since the process of its last attempt died. */
export type DeadJob = RowOf<typeof deadFields>;

export interface Claim {
  /** The jobs of dead processes first, then one lane after the other. */
  claimed: ClaimedJob[];
  dead: DeadJob[];
  /** When the next job is due, in milliseconds since the epoch. */
  nextAt: number | null;
}

const now = sql`(select now from given)`;
const ofAskedKinds = sql`${jobs.kind} = any(array(select kind from slots))`;
/** Whether a job waits; the condition of the index `jobs_lanes`. */
export const waits = sql`${jobs.status} = 'pending' and ${jobs.lockedUntil} is null`;
const isDue = sql`${waits} and ${jobs.runAt} <= ${now}`;

/** Whether the process that holds the job is dead. */
const isLapsed = hasLapsed(jobs.lockedUntil);

/** Not `is not null`, which the planner expects to match nearly all rows until it has statistics. */
export const isRunning = sql`${jobs.lockedUntil} > '-infinity'`;

/** Whether no other job of the same kind and key runs. */
const isFree = sql`${isDue} and not exists (
  select 1 from busy where busy.kind = ${jobs.kind} and busy.key = ${jobs.key}
)`;

const countOf = (source: SQL) => sql`(select count(*) from ${source} t where t.kind = p.kind)`;

/** The number of a lane's free slots of `p.kind`. */
const roomOf = (lane: SQL, taken: SQL) =>
  sql`p.share - (select count(*) from ${taken} t where t.kind = p.kind and t.lane = ${lane})`;

/** The lapsed job, locked; no row while another claim has it locked. */
const lockedOf = (id: SQL) =>
  sql`lateral (select ${jobs.id} from ${jobs} where ${jobs.id} = ${id} and ${isLapsed} for update skip locked)`;

/**
 * The lanes of `p.kind` with due jobs: those after `p.after`, then from the first one to `p.after`. Each lane is one
 * step in the index, found only while there are slots to fill.
 */
const lanes = sql`(
  with recursive walk as (
    select p.after as lane, false as wrapped
    union all
    select next.lane, next.wrapped from walk cross join lateral (
      (select ${lane} as lane, walk.wrapped from ${jobs} where ${jobs.kind} = p.kind and ${isDue}
        and ${lane} > walk.lane and (not walk.wrapped or ${lane} <= p.after) order by 1 limit 1)
      union all
      (select ${lane}, true from ${jobs} where ${jobs.kind} = p.kind and ${isDue}
        and not walk.wrapped and ${lane} <= p.after order by 1 limit 1)
      limit 1
    ) next
  ) select lane from walk offset 1
)`;

/**
 * Claims jobs: those of dead processes, then one of each lane, then more of each lane. Exact for any number of
 * processes: a claim locks only the jobs that it takes, since other claims skip locked jobs. The planner knows little
 * about a table that fills and empties all the time. So each part has only one good plan, which walks along an index up
 * to a limit. The values come from a CTE, which hides them from the planner: it would otherwise plan the statement
 * again for each claim, which costs more than the claim.
 */
export const claimStatement = statement(
  {
    now: "timestamptz",
    lock: "uuid",
    kinds: "text[]",
    free: "text[]",
    share: "text[]",
    after: "uuid[]",
    runningIds: "uuid[]",
    runningKinds: "text[]",
    runningLanes: "uuid[]",
    takesOver: "boolean",
  },
  (given) => sql<Claim>`
    with given as materialized (
      select ${given.now} as now, ${given.kinds} as kinds, ${given.free}::int[] as free, ${given.share}::int[] as share,
        ${given.after} as after, ${given.runningIds} as running_ids, ${given.runningKinds} as running_kinds,
        ${given.runningLanes} as running_lanes, ${given.takesOver} as takes_over
    ), slots as materialized (
      select p.* from given cross join unnest(kinds, free, share, after) as p(kind, free, share, after)
    ), running as materialized (
      select r.* from given cross join unnest(running_kinds, running_lanes) as r(kind, lane)
    ), busy as materialized (
      select ${jobs.kind}, ${jobs.key} from ${jobs} where ${ofAskedKinds} and ${isRunning}
    ), lapsed as materialized (
      select ${jobs.id}, ${jobs.kind}, ${lane} as lane, ${jobs.lockedUntil} as at, ${jobs.attempts} < ${jobs.maxAttempts} as again
      from ${jobs} where ${ofAskedKinds} and ${isLapsed}
        and (select takes_over from given) and ${jobs.id} <> all((select running_ids from given)::uuid[])
    ), dead as (
      update ${jobs} set ${assign(jobs, {
        status: sql`'failed'`,
        failedAt: now,
        lockedBy: sql`null`,
        lockedUntil: sql`null`,
        lastError: sql`'The process ended while it ran this job'`,
      })}
      where ${jobs.id} = any(array(select d.id from lapsed cross join ${lockedOf(sql`lapsed.id`)} d where not again))
      returning ${deadFields}
    ), abandoned as (
      select p.kind, a.lane, a.id, 1 as round, a.nth from slots p cross join lateral (
        select l.lane, d.id, row_number() over () as nth from (
          select lane from lapsed where kind = p.kind and again group by lane order by min(at), lane
        ) l cross join lateral (
          select d.id from (
            select id from lapsed where kind = p.kind and lane = l.lane and again order by at, id
          ) e cross join ${lockedOf(sql`e.id`)} d limit greatest(0, ${roomOf(sql`l.lane`, sql`running`)})
        ) d limit p.free
      ) a
    ), taken as (
      select kind, lane from running union all select kind, lane from abandoned
    ), first as (
      select p.kind, f.lane, f.id, 2 as round, f.nth from slots p cross join lateral (
        select l.lane, d.id, row_number() over () as nth from ${lanes} l cross join lateral (
          select ${jobs.id} from ${jobs} where ${jobs.kind} = p.kind and ${lane} = l.lane and ${isFree}
            and ${roomOf(sql`l.lane`, sql`taken`)} > 0
          order by ${jobs.runAt}, ${jobs.id} limit 1 for update skip locked
        ) d limit p.free - ${countOf(sql`abandoned`)}
      ) f
    ), further as (
      select p.kind, f.lane, f.id, 3 as round, f.nth from slots p cross join lateral (
        select l.lane, d.id, row_number() over () as nth from first l cross join lateral (
          select ${jobs.id} from ${jobs} where ${jobs.kind} = p.kind and ${lane} = l.lane and ${isFree}
            and ${jobs.id} <> all(array(select id from first))
          order by ${jobs.runAt}, ${jobs.id} limit ${roomOf(sql`l.lane`, sql`taken`)} - 1 for update skip locked
        ) d where l.kind = p.kind limit p.free - ${countOf(sql`abandoned`)} - ${countOf(sql`first`)}
      ) f
    ), chosen as (
      select * from abandoned union all select * from first union all select * from further
    ), claimed as (
      update ${jobs}
      set ${assign(jobs, { lockedBy: given.lock, lockedUntil: leaseUntil, attempts: sql`${jobs.attempts} + 1` })}
      where ${jobs.id} = any(array(select id from chosen)) returning ${claimedFields}
    )
    select
      (select coalesce(jsonb_agg(to_jsonb(c) order by o.round, o.nth), '[]') from claimed c join chosen o on o.id = c.id) as claimed,
      (select coalesce(jsonb_agg(to_jsonb(d)), '[]') from dead d) as dead,
      (select (extract(epoch from min(${jobs.runAt})) * 1000)::float8 from ${jobs}
        where ${waits} and ${jobs.runAt} > ${now} and ${ofAskedKinds}) as "nextAt"`,
);

/** Finds a claimable job. Walks the lanes as a claim does, for the same reason. */
export const leftStatement = statement(
  { now: "timestamptz", kinds: "text[]" },
  (given) => sql<{ found: number }>`
    with given as materialized (
      select ${given.now} as now, ${given.kinds} as kinds
    ), slots as materialized (
      select unnest(kinds) as kind, ${commonLane}::uuid as after from given
    ), busy as materialized (
      select ${jobs.kind}, ${jobs.key} from ${jobs} where ${ofAskedKinds} and ${isRunning}
    )
    select 1 as found from slots p cross join lateral (
      select from ${lanes} l cross join lateral (
        select from ${jobs} where ${jobs.kind} = p.kind and ${lane} = l.lane and ${isFree}
        order by ${jobs.runAt}, ${jobs.id} limit 1
      ) d limit 1
    ) any_lane limit 1`,
);
