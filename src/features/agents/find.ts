import { and, eq, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Ctx } from "../../context/ctx.ts";
import { write } from "../../context/write.ts";
import type { Changes } from "../../core/changes.ts";
import { EngineError, notFound } from "../../core/errors.ts";
import { iconAddress } from "../../core/files/image.ts";
import { writeArray } from "../../db/arrays.ts";
import type { Db } from "../../db/client.ts";
import { agentIcons, agents, channels } from "../../db/schema.ts";
import { lockWithAskers } from "./askers.ts";
import { expectedRevision, isSlug } from "./rules.ts";
import type { Instance } from "./schema.ts";

export type AgentRow = typeof agents.$inferSelect;

/** Whether the caller reaches the agent: the condition on `agents` in every query. */
export function withinReach({ membership }: Ctx): SQL {
  const own = eq(agents.organizationId, membership.organizationId);
  const scope = membership.workspaceIds;
  // One parameter for all workspaces, so that the statement is the same for every caller.
  return scope ? sql`(${own} and ${agents.workspaceId} = any(${writeArray(scope)}::uuid[]))` : own;
}

/** The agent with this slug. Throws the same 404 for a missing agent and for an unreachable one. */
export async function findAgent(ctx: Ctx, slug: string): Promise<AgentRow> {
  if (!isSlug(slug)) throw notFound("Agent");
  const [agent] = await ctx.db
    .select()
    .from(agents)
    .where(and(eq(agents.slug, slug), withinReach(ctx)));
  if (!agent) throw notFound("Agent");
  return agent;
}

interface AgentChange {
  action: string;
  /** Added to the audit entry; never contains a secret's value. */
  summary?: Record<string, unknown>;
  /** The fields that an update changed (`write`). */
  changes?: Changes;
  /** Whether nothing was changed (`write`). */
  unchanged?: () => boolean;
  /** Whether the change also concerns the agents that have this one as a tool. */
  concernsAskers?: boolean;
  /** Whether turns do not see the change, so that the agent's revision stays (`write`). */
  agentUnchanged?: boolean;
  /** The request's `If-Match`: the revision on which the change is based. */
  ifMatch?: string | undefined;
  /** Takes a lock that comes before the agent's (`write`). */
  lock?: (tx: Db) => Promise<void>;
}

/**
 * Changes data of one reachable agent by `write`, with the agent locked, so that changes of an agent run one after the
 * other. Chat is not blocked. Throws the 404, the 400 for an invalid `ifMatch`, and the 412 for another revision.
 */
export async function writeAgent<T>(
  ctx: Ctx,
  slug: string,
  { concernsAskers = false, ifMatch, ...change }: AgentChange,
  fn: (tx: Db, agent: AgentRow) => Promise<T>,
): Promise<T> {
  const expected = expectedRevision(ifMatch);
  const { id, organizationId } = await findAgent(ctx, slug);
  return write(ctx, { ...change, target: slug, agentId: id }, async (tx) => {
    if (concernsAskers) await lockWithAskers(tx, { slug, organizationId });
    const [agent] = await tx
      .select()
      .from(agents)
      .where(and(eq(agents.id, id), withinReach(ctx)))
      // `for update` would also block new conversations, whose foreign key points to the agent.
      .for("no key update");
    if (!agent) throw notFound("Agent");
    if (expected !== undefined && String(agent.revision) !== expected) {
      throw new EngineError("precondition-failed", `The agent is at revision ${agent.revision}: read it again`);
    }
    return fn(tx, agent);
  });
}

/** Selects agents with those columns of other tables that their API form needs. */
export function selectInstances(db: Db) {
  const web = and(eq(channels.agentId, agents.id), eq(channels.type, "web"));
  const failing = alias(channels, "failing");
  const failed = sql`${failing.agentId} = ${agents.id} and ${failing.enabled} and ${failing.status} = 'failing'`;
  const since = sql`to_char(${failing.errorSince} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  const failingChannels = sql<Instance["failingChannels"]>`coalesce((
    select json_agg(json_build_object('channelType', ${failing.type}, 'since', ${since}) order by ${failing.type})
    from ${channels} ${failing} where ${failed}), '[]')`;
  return db
    .select({ agent: agents, iconVersion: agentIcons.version, webEnabled: channels.enabled, failingChannels })
    .from(agents)
    .leftJoin(agentIcons, eq(agentIcons.agentId, agents.id))
    .leftJoin(channels, web);
}

type InstanceRow = Awaited<ReturnType<typeof selectInstances>>[number];

/** An agent in its API form; the routes add its `providerProblem`. */
export function toInstance({ agent, iconVersion, webEnabled, failingChannels }: InstanceRow): Instance {
  const { organizationId, connectionId, authKeyHmac, createdBy, updatedBy, ...fields } = agent;
  return {
    ...fields,
    provider: fields.provider as Instance["provider"],
    status: agent.active ? "active" : "inactive",
    webEnabled: webEnabled ?? false,
    failingChannels,
    providerProblem: null,
    icon: iconVersion === null ? null : iconAddress(agent.slug, iconVersion),
    createdAt: agent.createdAt.toISOString(),
    updatedAt: agent.updatedAt.toISOString(),
  };
}
