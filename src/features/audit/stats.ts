import { and, gte, lt, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { unionAll } from "drizzle-orm/pg-core";
import type { Ctx } from "../../context/ctx.ts";
import type { BoundedReads } from "../../db/bounded-reads.ts";
import type { Db } from "../../db/client.ts";
import { auditLogs } from "../../db/schema.ts";
import { everyDay, type Period, requirePeriod } from "../../http/period.ts";
import type { AuditStats, AuditStatsQuery } from "./schema.ts";
import { type Scope, scopeOf } from "./service.ts";

interface Row extends Record<string, unknown> {
  total: number;
  failures: number;
  actions: AuditStats["actions"] | null;
  actors: AuditStats["actors"] | null;
  daily: AuditStats["daily"] | null;
}

/**
 * Counts entries by actor and action. A renamed person is one actor, under the newest name; actors without an id are
 * distinguished by name. Names are grouped first, so that few rows are sorted.
 */
const counts = (entries: SQLWrapper) => sql`
with entries as materialized ${entries},
actions as (
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

function selectEntries(tx: Db, { own, unowned }: Scope, { from, to }: Period) {
  const { action, actorType, actorId, actorName, success, createdAt } = auditLogs;
  const within = (visible: SQL) =>
    tx
      .select({ action, actorType, actorId, actorName, success, createdAt })
      .from(auditLogs)
      .where(and(visible, gte(createdAt, from), lt(createdAt, to)));
  return unionAll(within(own), within(unowned));
}

/**
 * The counts of a period in the request's organization. Throws the 400 for a period that is too long or ends before it
 * begins, and the 429 and the 503 of `BoundedReads`.
 */
export async function readStats(ctx: Ctx, readLog: BoundedReads, query: AuditStatsQuery): Promise<AuditStats> {
  const period = requirePeriod(query, ctx.clock.now());
  const scope = scopeOf(ctx);
  const [row] = await readLog(ctx.database, (tx) => tx.execute<Row>(counts(selectEntries(tx, scope, period))));
  if (!row) throw new Error("The statistics returned no row");
  const { total, failures, actions, actors, daily } = row;
  return {
    total,
    failures,
    actions: actions ?? [],
    actors: actors ?? [],
    daily: everyDay(period, daily ?? [], { count: 0, failures: 0 }),
  };
}
