import { sql } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import type { Standing } from "../../../context/membership.ts";
import type { Database } from "../../../db/client.ts";
import { fields, jsonObject, orNull, type RowOf } from "../../../db/fragments.ts";
import { accessTokens, agents, conversations, members, workspaceIdsOf } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";

/** The current state that callers' rights depend on. */
export interface Rights {
  /** Revisions by agent id; a deleted agent has none. */
  revisions: ReadonlyMap<string, number>;
  /** Workspaces by agent id. */
  workspaces: ReadonlyMap<string, string>;
  /** The ids of the existing conversations. */
  conversations: ReadonlySet<string>;
  /** The rights of a session in its organization; undefined for a deleted or expired session. */
  standingOf(ctx: Ctx): Standing | undefined;
}

const rightsStatement = statement(
  { agentIds: "uuid[]", conversationIds: "uuid[]", tokens: "uuid[]", organizations: "uuid[]", now: "timestamptz" },
  ({ agentIds, conversationIds, tokens, organizations, now }) => {
    const agent = jsonObject({ id: agents.id, revision: agents.revision, workspaceId: agents.workspaceId });
    const asked = sql`asked.organization`;
    const standing = jsonObject({
      token: accessTokens.id,
      organization: sql<string>`${asked}`,
      role: orNull(members.roleKey),
      workspaceIds: workspaceIdsOf(accessTokens.userId, asked),
    });
    const row = fields({
      agents: sql<RowOf<typeof agent>[]>`(
        select coalesce(json_agg(${agent}), '[]') from ${agents} where ${agents.id} = any(${agentIds}))`,
      conversations: sql<string[]>`(
        select coalesce(json_agg(${conversations.id}), '[]') from ${conversations}
        where ${conversations.id} = any(${conversationIds}))`,
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

interface RightsQuery {
  agentIds: readonly string[];
  conversationIds: readonly string[];
  calls: readonly Ctx[];
  now: number;
}

/** Reads the current state of agents, conversations and signed-in callers in one query. */
export async function readRights(
  database: Database,
  { agentIds, conversationIds, calls, now }: RightsQuery,
): Promise<Rights> {
  const asked = new Map(calls.flatMap((ctx) => (ctx.actor.id === null ? [] : [[keyOf(ctx), ctx] as const])));
  const [row] = await rightsStatement.run(database, {
    agentIds,
    conversationIds,
    tokens: [...asked.values()].map(tokenOf),
    organizations: [...asked.values()].map(({ membership }) => membership.organizationId),
    now: new Date(now),
  });
  const standings = new Map(row?.standings.map((standing) => [`${standing.token} ${standing.organization}`, standing]));
  return {
    revisions: new Map(row?.agents.map(({ id, revision }) => [id, revision])),
    workspaces: new Map(row?.agents.map(({ id, workspaceId }) => [id, workspaceId])),
    conversations: new Set(row?.conversations),
    standingOf: (ctx) => standings.get(keyOf(ctx)),
  };
}

const tokenOf = ({ actor }: Ctx) => (actor.type === "user" ? actor.tokenId : (actor.id ?? ""));
const keyOf = (ctx: Ctx) => `${tokenOf(ctx)} ${ctx.membership.organizationId}`;
