import type { Ctx } from "../../context.ts";
import type { Parameter } from "../../db/client.ts";
import { actionFilter } from "./rules.ts";
import type { AuditEntry, AuditPage, AuditQuery } from "./schema.ts";
import { entriesOfNone, ownEntries, seesInstallation } from "./scope.ts";

interface Row {
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

/**
 * $3 and $4 the period, $5 an agent's slug, $6 an actor, $7 an action, $8 whether that is a beginning, $9 text to look
 * for: not as a pattern, so that `%` and `_` stand for themselves. Null: no filter.
 */
const filters = `created_at >= $3::timestamptz and created_at < $4::timestamptz
  and ($5::text is null or (agent_id is not null and target = $5))
  and ($6::text is null or actor_id::text = lower($6) or actor_name = $6 or actor_type = $6)
  and ($7::text is null or case when $8::boolean then starts_with(action, $7) else action = $7 end)
  and ($9::text is null or strpos(lower(target), lower($9)) > 0 or strpos(lower(actor_name), lower($9)) > 0
    or strpos(lower(action), lower($9)) > 0)`;

const newest = (entries: string) => `(select * from audit_logs where ${entries} and ${filters}
  order by created_at desc, id desc limit $10::bigint + $11::bigint)`;

const page = `
select id, actor_type, actor_id, actor_name, action, target, agent_id is not null as of_agent, success, summary, ip,
  (extract(epoch from created_at) * 1000)::float8 as created_at_ms
from (${newest(ownEntries)} union all ${newest(entriesOfNone)}) entries
order by created_at desc, id desc limit $10::bigint offset $11::bigint`;

const total = `select count(*)::int as total from audit_logs
where (${ownEntries} or (${entriesOfNone})) and ${filters}`;

/** A page of what happened in the addressed organization, newest first. */
export async function listEntries(ctx: Ctx, query: AuditQuery): Promise<AuditPage> {
  const { limit = 50, offset = 0 } = query;
  const parameters = filterParameters(ctx, query);
  const rows = await ctx.database.query<Row>(page, [...parameters, limit, offset]);
  const [count] = await ctx.database.query<{ total: number }>(total, parameters);
  return { items: rows.map(toEntry), total: count?.total ?? 0, limit, offset };
}

/** The values of $1 to $9. An empty filter is none. */
function filterParameters(ctx: Ctx, { instanceId, actor, action, search, from, to }: AuditQuery): Parameter[] {
  const filter = action ? actionFilter(action) : null;
  return [
    ctx.membership.organizationId,
    seesInstallation(ctx),
    from?.toISOString() ?? "-infinity",
    to?.toISOString() ?? "infinity",
    instanceId || null,
    actor || null,
    filter?.action ?? null,
    filter?.prefix ?? false,
    search || null,
  ];
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
