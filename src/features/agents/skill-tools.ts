import { eq, sql } from "drizzle-orm";
import { type AnyPgColumn, alias } from "drizzle-orm/pg-core";
import type { Services } from "../../context/ctx.ts";
import { askingTools } from "../../core/plugins/plugins.ts";
import { writeArray } from "../../db/arrays.ts";
import type { Db } from "../../db/client.ts";
import { column, insertInto } from "../../db/fragments.ts";
import { agentSkills, agents, agentTools, plugins, skills, skillVersions, workspaceSkills } from "../../db/schema.ts";

/**
 * Gives agents exactly the tools that their skills in use require: skills in the catalogue, allowed for the workspace
 * and enabled, each in its pinned version. Tools that stay keep their approval setting; a new one gets its plugin's
 * default. When a removed tool needed approval, a row of source `global`, which turns no tool on, stores that until the
 * tool returns.
 */
export async function syncSkillTools(
  tx: Db,
  { plugins: families }: Pick<Services, "plugins">,
  agentIds: readonly string[],
): Promise<void> {
  if (agentIds.length === 0) return;
  const ids = sql`${writeArray(agentIds)}::uuid[]`;
  const { agentId, name, source, needsApproval } = agentTools;
  const [wanted, removed] = [alias(agentTools, "wanted"), alias(agentTools, "removed")];
  const of = (tool: typeof wanted | typeof removed) => sql`${agentId} = ${tool.agentId} and ${name} = ${tool.name}`;
  const manual = sql`select from ${agentTools} where ${of(removed)} and ${source} = 'manual'`;
  const isOn = sql`select from ${agentTools} where ${of(wanted)} and ${source} <> 'global'`;
  const byDefault = sql`${wanted.name} = any(${writeArray(askingTools(families))}::text[])
    and not exists (${isOn}) and not exists (${serverOf(wanted)})`;
  const asks = sql`exists (select from ${agentTools} where ${of(wanted)} and ${needsApproval}) or (${byDefault})`;
  const memory = { agentId: removed.agentId, name: removed.name, source: sql`'global'`, needsApproval: sql`true` };
  const added = { agentId: wanted.agentId, name: wanted.name, source: sql`'skill'`, needsApproval: asks };
  await tx.execute(sql`
    with ${wanted} as (
      select distinct ${agentSkills.agentId}, tool as ${column(name)}
      from ${agentSkills}
      join ${agents} on ${agents.id} = ${agentSkills.agentId}
      join ${workspaceSkills} on ${workspaceSkills.skillId} = ${agentSkills.skillId}
        and ${workspaceSkills.workspaceId} = ${agents.workspaceId}
      join ${skillVersions} on ${skillVersions.id} = ${agentSkills.pinnedVersionId}
      cross join unnest(${skillVersions.requiredTools}) as tool
      where ${agentSkills.enabled} and ${agentSkills.agentId} = any(${ids})
    ), ${removed} as (
      delete from ${agentTools}
      where ${source} = 'skill' and ${agentId} = any(${ids}) and not exists (select from ${wanted} where ${of(wanted)})
      returning ${agentId}, ${name}, ${needsApproval}
    ), remembered as (
      ${insertInto(agentTools, memory)} from ${removed} where ${removed.needsApproval} and not exists (${manual})
      on conflict do nothing
    ), recalled as (
      delete from ${agentTools} using ${wanted} where ${source} = 'global' and ${of(wanted)}
    )
    ${insertInto(agentTools, added)} from ${wanted} on conflict do nothing`);
}

/** The organization's MCP server with the tool's namespace. It replaces a plugin of the same namespace. */
const serverOf = (tool: { agentId: AnyPgColumn; name: AnyPgColumn }) => sql`
  select from ${plugins}
  join ${agents} on ${agents.organizationId} = ${plugins.organizationId} and ${agents.id} = ${tool.agentId}
  where ${plugins.namespace} = split_part(${tool.name}, ':', 1)`;

/**
 * Locks the agent's skills until the transaction ends. A change of which skills are allowed also locks them first, so
 * it can't happen meanwhile.
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
