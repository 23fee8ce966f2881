import { and, desc, eq, gte, isNotNull, isNull, lt, or, type SQL, sql } from "drizzle-orm";
import { unionAll } from "drizzle-orm/pg-core";
import type { Ctx } from "../../context/ctx.ts";
import type { BoundedReads } from "../../db/bounded-reads.ts";
import type { Db } from "../../db/client.ts";
import { auditLogs } from "../../db/schema.ts";
import { countTotal, mostCounted } from "../../http/paging.ts";
import { actionFilter, searchPeriod } from "./rules.ts";
import type { AuditEntry, AuditPage, AuditQuery } from "./schema.ts";

/** A page of the organization's entries, newest first. Throws the 429 and the 503 of `BoundedReads`. */
export async function listEntries(ctx: Ctx, readLog: BoundedReads, query: AuditQuery): Promise<AuditPage> {
  const { limit = 50, offset = 0 } = query;
  const wanted = filters(query, ctx.clock.now());
  const { own, unowned } = scopeOf(ctx);
  const scope = { own: and(own, wanted), unowned: and(unowned, wanted) };
  return readLog(ctx.database, async (tx) => {
    const rows = await selectPage(tx, scope, limit, offset);
    const items = rows.map(toEntry);
    const some = (condition: SQL | undefined) =>
      tx.select({ id: auditLogs.id }).from(auditLogs).where(condition).limit(mostCounted);
    const matches = unionAll(some(scope.own), some(scope.unowned));
    const total = await countTotal(tx, items.length, { limit, offset }, matches);
    return { items, total, limit, offset };
  });
}

/** The conditions of a query; an empty filter counts as none. */
function filters(query: AuditQuery, now: number): SQL | undefined {
  const { instanceId, actor, action, search } = query;
  const { from, to } = searchPeriod(query, now);
  return and(
    from ? gte(auditLogs.createdAt, from) : undefined,
    to ? lt(auditLogs.createdAt, to) : undefined,
    instanceId ? and(isNotNull(auditLogs.agentId), eq(auditLogs.target, instanceId)) : undefined,
    actor ? isActor(actor) : undefined,
    action ? isAction(action) : undefined,
    search ? contains(search) : undefined,
  );
}

function isActor(actor: string): SQL | undefined {
  const isId = sql`${auditLogs.actorId}::text = lower(${actor})`;
  return or(isId, eq(auditLogs.actorName, actor), eq(auditLogs.actorType, actor));
}

function isAction(wanted: string): SQL {
  const { action, prefix } = actionFilter(wanted);
  return prefix ? sql`starts_with(${auditLogs.action}, ${action})` : eq(auditLogs.action, action);
}

/** `strpos` instead of a pattern, so that `%` and `_` match only themselves. */
function contains(text: string): SQL | undefined {
  const places = [auditLogs.target, auditLogs.actorName, auditLogs.action];
  return or(...places.map((place) => sql`strpos(lower(${place}), lower(${text})) > 0`));
}

type Conditions = { [Part in keyof Scope]: SQL | undefined };

function selectPage(tx: Db, { own, unowned }: Conditions, limit: number, offset: number) {
  const newestFirst = [desc(auditLogs.createdAt), desc(auditLogs.id)];
  const newest = (condition: SQL | undefined) =>
    tx
      .select()
      .from(auditLogs)
      .where(condition)
      .orderBy(...newestFirst)
      .limit(limit + offset);
  return unionAll(newest(own), newest(unowned))
    .orderBy(...newestFirst)
    .limit(limit)
    .offset(offset);
}

function toEntry(row: typeof auditLogs.$inferSelect): AuditEntry {
  const { id, action, target, success } = row;
  return {
    id,
    actor: { type: row.actorType as AuditEntry["actor"]["type"], id: row.actorId, name: row.actorName },
    action,
    target,
    instanceId: row.agentId === null ? null : target,
    success,
    details: row.summary,
    ip: row.ip || null,
    createdAt: row.createdAt.toISOString(),
  };
}

/** The entries that the caller may see, as two conditions. Each is queried by itself, since each has its own index. */
export interface Scope {
  /** The entries of the request's organization. */
  own: SQL;
  /** The entries without an organization; matches nothing for a caller who may not see them. */
  unowned: SQL;
}

export function scopeOf({ membership }: Ctx): Scope {
  return {
    own: eq(auditLogs.organizationId, membership.organizationId),
    // Such as failed sign-ins of unknown accounts. They concern the installation, so only its Owners may see them.
    unowned: membership.permissions.has("policy:manage") ? isNull(auditLogs.organizationId) : sql`false`,
  };
}
