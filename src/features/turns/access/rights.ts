import type { Ctx, Standing } from "../../../context.ts";
import { writeArray } from "../../../db/arrays.ts";
import type { Database } from "../../../db/client.ts";

/** The present state of everything that callers' rights depend on. */
export interface Rights {
  /** Revisions by agent id; a deleted agent has none. */
  revisions: ReadonlyMap<string, number>;
  /** The standing of a call's token in its organization; undefined when the token is deleted or expired. */
  standingOf(ctx: Ctx): Standing | undefined;
}

interface Row {
  agents: { id: string; revision: number }[];
  standings: (Standing & { token: string; organization: string })[];
}

const statement = `
  select
    (select coalesce(json_agg(json_build_object('id', id, 'revision', revision)), '[]')
     from agents where id = any($1::uuid[])) as agents,
    (select coalesce(json_agg(json_build_object('token', t.id, 'organization', s.organization, 'role', m.role_key,
       'workspaceIds', (
         select string_agg(wm.workspace_id::text, ',' order by wm.workspace_id::text)
         from workspace_members wm join workspaces w on w.id = wm.workspace_id
         where wm.user_id = t.user_id and w.organization_id = s.organization))), '[]')
     from unnest($2::uuid[], $3::uuid[]) as s(token, organization)
     join access_tokens t on t.id = s.token and (t.expires_at is null or t.expires_at > $4::timestamptz)
     left join members m on m.user_id = t.user_id and m.organization_id = s.organization) as standings`;

/** The revisions of agents and the standings of signed-in callers, in one query for all of them. */
export async function readRights(
  database: Database,
  { agentIds, calls, now }: { agentIds: readonly string[]; calls: readonly Ctx[]; now: number },
): Promise<Rights> {
  const asked = new Map(calls.flatMap((ctx) => (ctx.actor.id === null ? [] : [[keyOf(ctx), ctx] as const])));
  const [row] = await database.query<Row>(statement, [
    writeArray(agentIds),
    writeArray([...asked.values()].map(tokenOf)),
    writeArray([...asked.values()].map(({ membership }) => membership.organizationId)),
    new Date(now).toISOString(),
  ]);
  const standings = new Map(row?.standings.map((standing) => [`${standing.token} ${standing.organization}`, standing]));
  return {
    revisions: new Map(row?.agents.map(({ id, revision }) => [id, revision])),
    standingOf: (ctx) => standings.get(keyOf(ctx)),
  };
}

const tokenOf = ({ actor }: Ctx) => (actor.type === "user" ? actor.sessionId : (actor.id ?? ""));
const keyOf = (ctx: Ctx) => `${tokenOf(ctx)} ${ctx.membership.organizationId}`;
