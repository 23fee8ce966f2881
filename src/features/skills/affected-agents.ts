import { and, asc, eq, sql } from "drizzle-orm";
import { writeArray } from "../../db/arrays.ts";
import type { Db } from "../../db/client.ts";
import { agentSkills, agents } from "../../db/schema.ts";

/** The agents that have the skill enabled, of one workspace or of all, locked until the transaction ends. */
export async function agentsWith(tx: Db, skillId: string, workspaceId?: string) {
  const rows = await tx
    .select({ id: agents.id, slug: agents.slug })
    .from(agents)
    .innerJoin(agentSkills, eq(agentSkills.agentId, agents.id))
    .where(
      and(
        eq(agentSkills.skillId, skillId),
        agentSkills.enabled,
        workspaceId === undefined ? undefined : eq(agents.workspaceId, workspaceId),
      ),
    )
    .orderBy(asc(agents.id))
    .for("no key update", { of: agents });
  return { ids: rows.map(({ id }) => id), slugs: rows.map(({ slug }) => slug) };
}

/** Raises the revision of these agents, so that they are loaded anew where they are in memory. */
export async function touchAgents(tx: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx
    .update(agents)
    .set({ revision: sql`${agents.revision} + 1`, updatedAt: sql`now()` })
    .where(sql`${agents.id} = any(${writeArray(ids)}::uuid[])`);
}
