import { and, asc, eq, inArray, ne, not, notExists, or, type SQL, sql } from "drizzle-orm";
import { writeArray } from "../../db/arrays.ts";
import type { Db } from "../../db/client.ts";
import { agents, agentTools, channels } from "../../db/schema.ts";

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
 * Locks an agent together with the agents that have it as a tool, in the order of their ids, so that simultaneous
 * changes of two agents that call each other can't deadlock.
 */
export async function lockWithAskers(tx: Db, { slug, organizationId }: AgentIdentity): Promise<void> {
  await tx
    .select({ id: agents.id })
    .from(agents)
    .where(
      and(eq(agents.organizationId, organizationId), or(eq(agents.slug, slug), inArray(agents.id, askersOf(tx, slug)))),
    )
    .orderBy(asc(agents.id))
    .for("no key update");
}

/**
 * Makes the agents that have this one as a tool, by choice or by a skill, load again, since the tool or its description
 * changed. Call it in the transaction of that change.
 */
export async function touchAskers(tx: Db, { slug, organizationId }: AgentIdentity): Promise<void> {
  const rows = await tx
    .select({ id: agents.id })
    .from(agents)
    .where(
      and(eq(agents.organizationId, organizationId), ne(agents.slug, slug), inArray(agents.id, askersOf(tx, slug))),
    )
    .orderBy(asc(agents.id))
    .for("no key update");
  if (rows.length === 0) return;
  const ids = writeArray(rows.map(({ id }) => id));
  await tx
    .update(agents)
    .set({ revision: sql`${agents.revision} + 1` })
    .where(sql`${agents.id} = any(${ids}::uuid[])`);
}
