import { sql } from "drizzle-orm";
import type { Ctx, Services } from "../../../context/ctx.ts";
import { tokenIdOf } from "../../../context/standing.ts";
import type { Standing } from "../../../core/credentials/rights.ts";
import { fields, jsonObject, type RowOf } from "../../../db/fragments.ts";
import { accessTokens, agents, conversations, users } from "../../../db/schema.ts";
import { liveToken, organizationWithId, reachedOrganization, standing } from "../../../db/standing.ts";
import { statement } from "../../../db/statement.ts";

/** The current state that callers' rights depend on. */
export interface AccessState {
  /** Revisions by agent id; a deleted agent has none. */
  revisions: ReadonlyMap<string, number>;
  /** Workspaces by agent id. */
  workspaces: ReadonlyMap<string, string>;
  /** The ids of the existing conversations. */
  conversations: ReadonlySet<string>;
  /** The rights of a session in its organization; undefined for a deleted or expired session. */
  standingOf(ctx: Ctx): Standing | undefined;
}

const stateStatement = statement(
  {
    agentIds: "uuid[]",
    conversationIds: "uuid[]",
    tokens: "uuid[]",
    organizations: "uuid[]",
    now: "timestamptz",
    administration: "boolean",
  },
  ({ agentIds, conversationIds, tokens, organizations: reachedIds, now, administration }) => {
    const agent = jsonObject({ id: agents.id, revision: agents.revision, workspaceId: agents.workspaceId });
    const organization = sql<string>`asked.organization`;
    const caller = jsonObject({ token: accessTokens.id, organization, ...standing });
    const asked = organizationWithId(organization, administration);
    const row = fields({
      agents: sql<RowOf<typeof agent>[]>`(
        select coalesce(json_agg(${agent}), '[]') from ${agents} where ${agents.id} = any(${agentIds}))`,
      conversations: sql<string[]>`(
        select coalesce(json_agg(${conversations.id}), '[]') from ${conversations}
        where ${conversations.id} = any(${conversationIds}))`,
      standings: sql<RowOf<typeof caller>[]>`(
        select coalesce(json_agg(${caller}), '[]')
        from unnest(${tokens}, ${reachedIds}) as asked(token, organization)
        join ${accessTokens} on ${accessTokens.id} = asked.token and ${liveToken(accessTokens, now, administration)}
        left join ${users} on ${users.id} = ${accessTokens.userId}
        left join lateral ${reachedOrganization({ user: users, token: accessTokens }, asked)} on true)`,
    });
    return sql<RowOf<typeof row>>`select ${row}`;
  },
);

interface StateQuery {
  agentIds: readonly string[];
  conversationIds: readonly string[];
  calls: readonly Ctx[];
}

/** Reads the current state of agents, conversations and signed-in callers in one query. */
export async function readState(
  { database, clock, options }: Services,
  { agentIds, conversationIds, calls }: StateQuery,
): Promise<AccessState> {
  const asked = new Map(calls.flatMap((ctx) => (ctx.actor.id === null ? [] : [[keyOf(ctx), ctx] as const])));
  const [row] = await stateStatement.run(database, {
    agentIds,
    conversationIds,
    tokens: [...asked.values()].map((ctx) => tokenIdOf(ctx) ?? ""),
    organizations: [...asked.values()].map(({ membership }) => membership.organizationId),
    now: new Date(clock.now()),
    administration: options.edition.has("administration"),
  });
  const standings = new Map(row?.standings.map((one) => [`${one.token} ${one.organization}`, one]));
  return {
    revisions: new Map(row?.agents.map(({ id, revision }) => [id, revision])),
    workspaces: new Map(row?.agents.map(({ id, workspaceId }) => [id, workspaceId])),
    conversations: new Set(row?.conversations),
    standingOf: (ctx) => standings.get(keyOf(ctx)),
  };
}

const keyOf = (ctx: Ctx) => `${tokenIdOf(ctx)} ${ctx.membership.organizationId}`;
