import { and, inArray } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import type { OwningAgent } from "../../core/activity/activity.ts";
import type { Watcher } from "../../core/activity/bus.ts";
import type { ActivityEvent } from "../../core/activity/event.ts";
import { notFound } from "../../core/errors.ts";
import { agents } from "../../db/schema.ts";
import { withinReach } from "../agents/index.ts";
import { findConversation } from "../conversations/index.ts";

/**
 * The events of all agents that the caller reaches, or of one agent. Events from before an agent was deleted, or moved
 * to an unreachable workspace, are not sent again.
 */
export async function reachedEvents(
  ctx: Ctx,
  agentId: string | null,
): Promise<Required<Pick<Watcher, "sees" | "rowsOf">>> {
  const { organizationId } = ctx.membership;
  const scope = ctx.membership.workspaceIds;
  const { activity } = ctx;
  const lastKnown = activity.sequence;
  const known = new Set(activity.ring.filter(({ agent }) => agent.organizationId === organizationId).map(agentOf));
  const present = known.size > 0 ? await reachedOf(ctx, [...known]) : known;
  const isOf = (agent: OwningAgent) =>
    agent.organizationId === organizationId && (agentId === null || agent.id === agentId);
  const isReached = (agent: OwningAgent) => isOf(agent) && (scope === null || scope.includes(agent.workspaceId));
  const sees: Watcher["sees"] = ({ agent, sequence }) =>
    sequence <= lastKnown ? isOf(agent) && present.has(agent.id) : isReached(agent);
  return { sees, rowsOf: isReached };
}

const agentOf = ({ agent }: ActivityEvent) => agent.id;

async function reachedOf(ctx: Ctx, ids: string[]): Promise<ReadonlySet<string>> {
  const found = await ctx.db
    .select({ id: agents.id })
    .from(agents)
    .where(and(inArray(agents.id, ids), withinReach(ctx)));
  return new Set(found.map(({ id }) => id));
}

/** The conversation with this public id of the agent with this slug. Throws the same 404 for each mismatch. */
export async function followedConversation(ctx: Ctx, ref: string, slug: string) {
  const { conversation, agent } = await findConversation(ctx, ref);
  if (agent.slug !== slug) throw notFound("Conversation");
  const { id, agentId } = conversation;
  const sees: Watcher["sees"] = (event) => event.conversationId === ref && event.agent.id === agentId;
  return { agentId, conversationId: id, conversation: { agentId, ref }, sees };
}
