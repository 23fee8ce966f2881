import { asc, eq, type SQL, sql } from "drizzle-orm";
import { writeArray } from "../../db/arrays.ts";
import type { Db } from "../../db/client.ts";
import { agents } from "../../db/schema.ts";

/**
 * Locks agents until the transaction ends, in the order of their ids, so that simultaneous changes of several agents
 * can't deadlock.
 */
export async function lockAgents(tx: Db, which: SQL | undefined): Promise<{ ids: string[]; slugs: string[] }> {
  const rows = await tx
    .select({ id: agents.id, slug: agents.slug })
    .from(agents)
    .where(which)
    .orderBy(asc(agents.id))
    .for("no key update");
  return { ids: rows.map(({ id }) => id), slugs: rows.map(({ slug }) => slug) };
}

/** Raises the revision of locked agents, so that cached copies are loaded again. */
export async function touchAgents(tx: Db, { ids }: { ids: readonly string[] }): Promise<void> {
  if (ids.length === 0) return;
  await tx
    .update(agents)
    .set({ revision: sql`${agents.revision} + 1` })
    .where(sql`${agents.id} = any(${writeArray(ids)}::uuid[])`);
}

/** The same for all agents of the organization. */
export async function touchAgentsOf(tx: Db, organizationId: string): Promise<void> {
  await touchAgents(tx, await lockAgents(tx, eq(agents.organizationId, organizationId)));
}
