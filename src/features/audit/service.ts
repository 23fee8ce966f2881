import { type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import type { Readings } from "./readings.ts";
import { actionFilter, mostCounted, searchPeriod, totalOf } from "./rules.ts";
import type { AuditEntry, AuditPage, AuditQuery } from "./schema.ts";
import { visibleEntries } from "./scope.ts";

interface Row extends Record<string, unknown> {
  id: string;
  actor_type: AuditEntry["actor"]["type"];
  actor_id: string | null;
  actor_name: string | null;
  action: string;
  target: string | null;
  of_agent: boolean;
  success: boolean;
  summary: Record<string, unknown>;
  ip: string | null;
  created_at_ms: number;
}

/** A page of what happened in the addressed organization, newest first. Throws the 429 and the 503 of `Readings`. */
export async function listEntries(ctx: Ctx, readings: Readings, query: AuditQuery): Promise<AuditPage> {
  const { limit = 50, offset = 0 } = query;
  const wanted = filters(query, ctx.clock.now());
  const conditions = visibleEntries(ctx).map((visible) => sql`${visible} and ${wanted}`);
  return readings.read(ctx.database, async (tx) => {
    const rows = await tx.execute<Row>(pageOf(conditions, limit, offset));
    const items = rows.map(toEntry);
    const known = totalOf(items.length, { limit, offset });
    if (known !== null) return { items, total: known, limit, offset };
    const [count] = await tx.execute<{ total: number }>(countOf(conditions));
    return { items, total: count?.total ?? 0, limit, offset };
  });
}

/** An empty filter is none. */
function filters(query: AuditQuery, now: number): SQL {
  const { instanceId, actor, action, search } = query;
  const { from, to } = searchPeriod(query, now);
  const conditions = [
    from && sql`created_at >= ${from.toISOString()}::timestamptz`,
    to && sql`created_at < ${to.toISOString()}::timestamptz`,
    instanceId && sql`agent_id is not null and target = ${instanceId}`,
    actor && sql`(actor_id::text = lower(${actor}) or actor_name = ${actor} or actor_type = ${actor})`,
    action && isAction(action),
    search && contains(search),
  ];
  return sql.join([sql`true`, ...conditions.filter((condition) => !!condition)], sql` and `);
}

function isAction(wanted: string): SQL {
  const { action, prefix } = actionFilter(wanted);
  return prefix ? sql`starts_with(action, ${action})` : sql`action = ${action}`;
}

/** Not as a pattern, so that `%` and `_` stand for themselves. */
function contains(text: string): SQL {
  const places = [sql`target`, sql`actor_name`, sql`action`];
  const found = places.map((place) => sql`strpos(lower(${place}), lower(${text})) > 0`);
  return sql`(${sql.join(found, sql` or `)})`;
}

function pageOf(conditions: readonly SQL[], limit: number, offset: number): SQL {
  const newest = conditions.map(
    (condition) => sql`(select * from audit_logs where ${condition}
      order by created_at desc, id desc limit ${limit + offset}::bigint)`,
  );
  return sql`
    select id, actor_type, actor_id, actor_name, action, target, agent_id is not null as of_agent, success, summary, ip,
      (extract(epoch from created_at) * 1000)::float8 as created_at_ms
    from (${sql.join(newest, sql` union all `)}) entries
    order by created_at desc, id desc limit ${limit}::bigint offset ${offset}::bigint`;
}

function countOf(conditions: readonly SQL[]): SQL {
  const found = conditions.map(
    (condition) => sql`(select 1 from audit_logs where ${condition} limit ${mostCounted}::int)`,
  );
  return sql`
    select least(count(*), ${mostCounted}::int)::int as total from (${sql.join(found, sql` union all `)}) entries`;
}

function toEntry(row: Row): AuditEntry {
  const { id, action, target, success } = row;
  return {
    id,
    actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
    action,
    target,
    instanceId: row.of_agent ? target : null,
    success,
    details: row.summary,
    ip: row.ip || null,
    createdAt: new Date(row.created_at_ms).toISOString(),
  };
}
