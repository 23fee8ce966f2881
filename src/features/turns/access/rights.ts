import { sql } from "drizzle-orm";
import type { Ctx, Standing } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import { fields, jsonObject, orNull, type RowOf } from "../../../db/fragments.ts";
import { accessTokens, agents, members, workspaceIdsOf } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";

/** The present state of everything that callers' rights depend on. */
export interface Rights {
  /** Revisions by agent id; a deleted agent has none. */
  revisions: ReadonlyMap<string, number>;
  /** The standing of a call's token in its organization; undefined when the token is deleted or expired. */
  standingOf(ctx: Ctx): Standing | undefined;
}

const rightsStatement = statement(
  { agentIds: "uuid[]", tokens: "uuid[]", organizations: "uuid[]", now: "timestamptz" },
  ({ agentIds, tokens, organizations, now }) => {
    const [agent, asked] = [jsonObject({ id: agents.id, revision: agents.revision }), sql`asked.organization`];
    const standing = jsonObject({
      token: accessTokens.id,
      organization: sql<string>`${asked}`,
      role: orNull(members.roleKey),
      workspaceIds: workspaceIdsOf(accessTokens.userId, asked),
    });
    const row = fields({
      agents: sql<RowOf<typeof agent>[]>`(
        select coalesce(json_agg(${agent}), '[]') from ${agents} where ${agents.id} = any(${agentIds}))`,
      standings: sql<RowOf<typeof standing>[]>`(
        select coalesce(json_agg(${standing}), '[]')
        from unnest(${tokens}, ${organizations}) as asked(token, organization)
        join ${accessTokens} on ${accessTokens.id} = asked.token
          and (${accessTokens.expiresAt} is null or ${accessTokens.expiresAt} > ${now})
        left join ${members} on ${members.userId} = ${accessTokens.userId} and ${members.organizationId} = ${asked})`,
    });
    return sql<RowOf<typeof row>>`select ${row}`;
  },
);

/** The revisions of agents and the standings of signed-in callers, in one query for all of them. */
export async function readRights(
  database: Database,
  { agentIds, calls, now }: { agentIds: readonly string[]; calls: readonly Ctx[]; now: number },
): Promise<Rights> {
  const asked = new Map(calls.flatMap((ctx) => (ctx.actor.id === null ? [] : [[keyOf(ctx), ctx] as const])));
  const [row] = await rightsStatement.run(database, {
    agentIds,
    tokens: [...asked.values()].map(tokenOf),
    organizations: [...asked.values()].map(({ membership }) => membership.organizationId),
    now: new Date(now),
  });
  const standings = new Map(row?.standings.map((standing) => [`${standing.token} ${standing.organization}`, standing]));
  return {
    revisions: new Map(row?.agents.map(({ id, revision }) => [id, revision])),
    standingOf: (ctx) => standings.get(keyOf(ctx)),
  };
}

const tokenOf = ({ actor }: Ctx) => (actor.type === "user" ? actor.sessionId : (actor.id ?? ""));
const keyOf = (ctx: Ctx) => `${tokenOf(ctx)} ${ctx.membership.organizationId}`;
