import { and, eq, inArray, ne, not, notExists, or, type SQL } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { agents, agentTools, channels } from "../../db/schema.ts";
import { lockAgents, touchAgents } from "./touch.ts";

type AgentIdentity = Pick<typeof agents.$inferSelect, "slug" | "organizationId">;

/** Limits a query to agents that other agents may call: active ones whose channel `agent` is not turned off. */
export function isAskable(db: Db): SQL | undefined {
  const off = and(eq(channels.agentId, agents.id), eq(channels.type, "agent"), not(channels.enabled));
  return and(agents.active, notExists(db.select({ id: channels.id }).from(channels).where(off)));
}

const askersOf = (tx: Db, slug: string) =>
  tx
    .select({ id: agentTools.agentId })
    .from(agentTools)
    .where(eq(agentTools.name, `agent:${slug}`));

/**
 * Locks an agent together with the agents that have it as a tool, so that simultaneous changes of two agents that call
 * each other can't deadlock.
 */
export async function lockWithAskers(tx: Db, { slug, organizationId }: AgentIdentity): Promise<void> {
  const either = or(eq(agents.slug, slug), inArray(agents.id, askersOf(tx, slug)));
  await lockAgents(tx, and(eq(agents.organizationId, organizationId), either));
}

/**
 * Makes the agents that have this one as a tool, by choice or by a skill, load again, since the tool or its description
 * changed. Call it in the transaction of that change.
 */
export async function touchAskers(tx: Db, { slug, organizationId }: AgentIdentity): Promise<void> {
  const askers = and(ne(agents.slug, slug), inArray(agents.id, askersOf(tx, slug)));
  await touchAgents(tx, await lockAgents(tx, and(eq(agents.organizationId, organizationId), askers)));
}
