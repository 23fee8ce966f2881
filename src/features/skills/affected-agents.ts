import { and, asc, eq, ne, sql } from "drizzle-orm";
import { writeArray } from "../../db/arrays.ts";
import type { Db } from "../../db/client.ts";
import { agentSkills, agents, agentTools } from "../../db/schema.ts";
import { syncSkillTools } from "../agents/index.ts";

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

/** Tells whoever keeps these agents in memory that what they serve changed. */
export async function touchAgents(tx: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.execute(
    sql`update agents set revision = revision + 1, updated_at = now() where id = any(${writeArray(ids)}::uuid[])`,
  );
}

export interface ToolsChanged {
  enabled: string[];
  disabled: string[];
}

/** Does `change`, brings the agent's tools in line, and tells which it gained and lost, from whatever source. */
export async function withSkillTools(tx: Db, agentId: string, change: () => Promise<void>): Promise<ToolsChanged> {
  const before = await toolNames(tx, agentId);
  await change();
  await syncSkillTools(tx, [agentId]);
  const after = await toolNames(tx, agentId);
  return {
    enabled: [...after].filter((name) => !before.has(name)),
    disabled: [...before].filter((name) => !after.has(name)),
  };
}

async function toolNames(tx: Db, agentId: string): Promise<Set<string>> {
  const rows = await tx
    .selectDistinct({ name: agentTools.name })
    .from(agentTools)
    // `global` only remembers a setting.
    .where(and(eq(agentTools.agentId, agentId), ne(agentTools.source, "global")))
    .orderBy(agentTools.name);
  return new Set(rows.map(({ name }) => name));
}
