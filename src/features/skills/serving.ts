import { and, asc, eq, sql } from "drizzle-orm";
import { writeArray } from "../../db/arrays.ts";
import type { Db } from "../../db/client.ts";
import { agentSkills, agents, agentTools } from "../../db/schema.ts";

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

/**
 * Makes the tools that agents have from skills those of the skills they are served: in the catalogue, allowed for their
 * workspace, and enabled, in the version they pinned. Rows that stay keep their approval setting.
 */
export async function syncSkillTools(tx: Db, agentIds: readonly string[]): Promise<void> {
  if (agentIds.length === 0) return;
  const ids = sql`${writeArray(agentIds)}::uuid[]`;
  await tx.execute(sql`
    with wanted as (
      select distinct s.agent_id, tool as name
      from agent_skills s
      join agents a on a.id = s.agent_id
      join workspace_skills w on w.skill_id = s.skill_id and w.workspace_id = a.workspace_id
      join skill_versions v on v.id = s.pinned_version_id
      cross join unnest(v.required_tools) as tool
      where s.enabled and s.agent_id = any(${ids})
    ), removed as (
      delete from agent_tools t
      where t.source = 'skill' and t.agent_id = any(${ids})
        and not exists (select from wanted w where w.agent_id = t.agent_id and w.name = t.name)
    )
    insert into agent_tools (agent_id, name, source) select agent_id, name, 'skill' from wanted
    on conflict do nothing`);
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
    .where(eq(agentTools.agentId, agentId))
    .orderBy(agentTools.name);
  return new Set(rows.map(({ name }) => name));
}
