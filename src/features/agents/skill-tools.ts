import { eq, sql } from "drizzle-orm";
import { writeArray } from "../../db/arrays.ts";
import type { Db } from "../../db/client.ts";
import { agentSkills, skills } from "../../db/schema.ts";

/**
 * Gives agents exactly the tools that their served skills require: skills in the catalogue, allowed for the workspace
 * and enabled, each in its pinned version. Tools that stay keep their approval setting. Where a tool that goes asked
 * for approval, a row of source `global` remembers that until the tool is on again; such a row turns no tool on.
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
      returning t.agent_id, t.name, t.needs_approval
    ), remembered as (
      insert into agent_tools (agent_id, name, source, needs_approval)
      select agent_id, name, 'global', true from removed r
      where needs_approval and not exists (
        select from agent_tools t where t.agent_id = r.agent_id and t.name = r.name and t.source = 'manual'
      )
      on conflict do nothing
    ), recalled as (
      delete from agent_tools t using wanted w
      where t.source = 'global' and t.agent_id = w.agent_id and t.name = w.name
    )
    insert into agent_tools (agent_id, name, source, needs_approval)
    select agent_id, name, 'skill', exists (
      select from agent_tools t where t.agent_id = w.agent_id and t.name = w.name and t.needs_approval
    ) from wanted w
    on conflict do nothing`);
}

/**
 * Locks the agent's skills until the transaction ends: allowing and disallowing a skill lock it first, so neither
 * happens meanwhile.
 */
export async function holdSkills(tx: Db, agentId: string): Promise<void> {
  await tx
    .select({ id: skills.id })
    .from(skills)
    .innerJoin(agentSkills, eq(agentSkills.skillId, skills.id))
    .where(eq(agentSkills.agentId, agentId))
    .orderBy(skills.id)
    .for("share", { of: skills });
}
