import { type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { EngineError } from "../../core/errors.ts";
import type { Readings } from "./readings.ts";
import { type Day, everyDay, type Period, periodProblem, statsPeriod } from "./rules.ts";
import type { AuditStats, AuditStatsQuery } from "./schema.ts";
import { visibleEntries } from "./scope.ts";

interface Row extends Record<string, unknown> {
  total: number;
  failures: number;
  actions: AuditStats["actions"] | null;
  actors: AuditStats["actors"] | null;
  daily: Day[] | null;
}

/**
 * Somebody who was renamed is one actor, under the newest name; what has no id is told apart by name. Names are grouped
 * first, so that only a few rows have to be sorted.
 */
const counts = (entries: SQL) => sql`
with entries as materialized (${entries}
), actions as (
  select action, count(*)::int as count from entries group by action order by 2 desc, 1 limit 50
), names as (
  select actor_type, actor_id, actor_name, count(*) as count, max(created_at) as latest
  from entries group by actor_type, actor_id, actor_name
), actors as (
  select actor_type as type, actor_id as id, (array_agg(actor_name order by latest desc))[1] as name,
    sum(count)::int as count
  from names group by actor_type, actor_id, case when actor_id is null then actor_name end
  order by 4 desc, 1, 2, 3 limit 20
), daily as (
  select (created_at at time zone 'UTC')::date::text as date, count(*)::int as count,
    (count(*) filter (where not success))::int as failures
  from entries group by (created_at at time zone 'UTC')::date
)
select count(*)::int as total, (count(*) filter (where not success))::int as failures,
  (select jsonb_agg(jsonb_build_object('action', action, 'count', count) order by count desc, action) from actions)
    as actions,
  (select jsonb_agg(jsonb_build_object('actor', jsonb_build_object('type', type, 'id', id, 'name', name), 'count', count)
    order by count desc, type, id, name) from actors) as actors,
  (select jsonb_agg(jsonb_build_object('date', date, 'count', count, 'failures', failures)) from daily) as daily
from entries`;

function entriesIn(ctx: Ctx, { from, to }: Period): SQL {
  const parts = visibleEntries(ctx).map(
    (visible) => sql`select action, actor_type, actor_id, actor_name, success, created_at from audit_logs
      where ${visible} and created_at >= ${from.toISOString()}::timestamptz
        and created_at < ${to.toISOString()}::timestamptz`,
  );
  return sql.join(parts, sql` union all `);
}

/**
 * Counts over a period of the addressed organization. Throws the 400 of a period that is too long or backwards, and the
 * 429 and the 503 of `Readings`.
 */
export async function readStats(ctx: Ctx, readings: Readings, query: AuditStatsQuery): Promise<AuditStats> {
  const period = statsPeriod(query, ctx.clock.now());
  const problem = periodProblem(period);
  if (problem !== null) throw new EngineError("bad-request", problem);
  const statement = counts(entriesIn(ctx, period));
  const [row] = await readings.read(ctx.database, (tx) => tx.execute<Row>(statement));
  if (!row) throw new Error("The statistics returned no row");
  const { total, failures, actions, actors, daily } = row;
  return {
    total,
    failures,
    actions: actions ?? [],
    actors: actors ?? [],
    daily: everyDay(period, daily ?? []),
  };
}
