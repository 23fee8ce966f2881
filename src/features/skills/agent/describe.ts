import { and, eq, isNotNull, or, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Db } from "../../../db/client.ts";
import { agentSkills, skillEnv, skills, skillVersions, workspaceSkills } from "../../../db/schema.ts";
import type { AgentRow } from "../../agents/index.ts";
import { type ToolOffer, unusableTools } from "../../tools/index.ts";
import { requiredEnvOf } from "../find.ts";
import type { AgentSkill } from "./schema.ts";

type Agent = Pick<AgentRow, "id" | "organizationId" | "workspaceId">;

const used = alias(skillVersions, "used");

/** The version that the agent uses: the pinned one, or the current one of a disabled skill. */
export const usedVersionId = sql`coalesce(case when ${agentSkills.enabled} then ${agentSkills.pinnedVersionId} end, ${skills.currentVersionId})`;

/** The skills that the workspace allows or that the agent has enabled, by slug. */
export async function describeSkills(db: Db, offer: ToolOffer, agent: Agent): Promise<AgentSkill[]> {
  const rows = await selectSkills(db, agent);
  const configured = await configuredKeys(db, agent.id);
  const tools = new Set(rows.flatMap(({ version }) => version.requiredTools));
  const unusable = new Set(await unusableTools(db, offer, { organizationId: agent.organizationId, agent }, [...tools]));
  const nothing: ReadonlySet<string> = new Set();
  return rows.map((row) => toAgentSkill(row, configured.get(row.skill.id) ?? nothing, unusable));
}

function selectSkills(db: Db, agent: Agent) {
  const { version, description, requiredEnv, requiredTools } = used;
  return db
    .select({
      skill: skills,
      currentVersion: skillVersions.version,
      version: { version, description, requiredEnv, requiredTools },
      link: agentSkills,
      allowed: workspaceSkills.skillId,
    })
    .from(skills)
    .innerJoin(skillVersions, eq(skillVersions.id, skills.currentVersionId))
    .leftJoin(agentSkills, and(eq(agentSkills.skillId, skills.id), eq(agentSkills.agentId, agent.id)))
    .innerJoin(used, eq(used.id, usedVersionId))
    .leftJoin(
      workspaceSkills,
      and(eq(workspaceSkills.skillId, skills.id), eq(workspaceSkills.workspaceId, agent.workspaceId)),
    )
    .where(
      and(eq(skills.organizationId, agent.organizationId), or(isNotNull(workspaceSkills.skillId), agentSkills.enabled)),
    )
    .orderBy(skills.slug);
}

type Row = Awaited<ReturnType<typeof selectSkills>>[number];

function toAgentSkill(row: Row, configured: ReadonlySet<string>, unusable: ReadonlySet<string>): AgentSkill {
  const { skill, currentVersion, version, link, allowed } = row;
  const { description, requiredTools } = version;
  const requiredEnv = requiredEnvOf(version);
  const enabled = link?.enabled ?? false;
  const missingEnv = requiredEnv.map(({ name }) => name).filter((name) => !configured.has(name));
  return {
    name: skill.slug,
    displayName: skill.name,
    description,
    category: skill.category,
    requiredEnv,
    requiredTools,
    enabled,
    allowed: allowed !== null,
    autoLoad: link?.autoLoad ?? false,
    envConfigured: missingEnv.length === 0,
    pinnedVersion: enabled ? version.version : null,
    currentVersion,
    hasUpdate: version.version !== currentVersion,
    missingEnv,
    missingTools: requiredTools.filter((name) => unusable.has(name)),
  };
}

async function configuredKeys(db: Db, agentId: string): Promise<Map<string, Set<string>>> {
  const rows = await db
    .select({ skillId: skillEnv.skillId, key: skillEnv.key })
    .from(skillEnv)
    .where(eq(skillEnv.agentId, agentId));
  const keys = new Map<string, Set<string>>();
  for (const { skillId, key } of rows) keys.set(skillId, (keys.get(skillId) ?? new Set()).add(key));
  return keys;
}
