import { and, asc, eq, sql } from "drizzle-orm";
import type { Cipher } from "../../../core/credentials/cipher.ts";
import type { Db } from "../../../db/client.ts";
import { agentSkills, skillEnv, skills, skillVersions, workspaceSkills } from "../../../db/schema.ts";
import type { AgentRow } from "../../agents/index.ts";
import { usedVersionId } from "../agent/describe.ts";
import { declarations, envPlace } from "../env/load.ts";
import { requiredEnvOf } from "../find.ts";
import { protectionOf } from "../rules.ts";
import type { BundledEnv, BundledSkill } from "./schema.ts";

/** The skills that the agent has or had enabled, by slug, for a bundle. */
export function exportSkills(db: Db, agentId: string): Promise<BundledSkill[]> {
  return db
    .select({
      skillSlug: skills.slug,
      enabled: agentSkills.enabled,
      autoLoad: agentSkills.autoLoad,
      pinnedVersion: skillVersions.version,
    })
    .from(agentSkills)
    .innerJoin(skills, eq(skills.id, agentSkills.skillId))
    .leftJoin(skillVersions, eq(skillVersions.id, agentSkills.pinnedVersionId))
    .where(eq(agentSkills.agentId, agentId))
    .orderBy(asc(skills.slug));
}

/** The stored skill variables, by skill and key, for a bundle, without hidden values. */
export async function exportSkillEnv(db: Db, cipher: Cipher, agent: AgentRow): Promise<BundledEnv[]> {
  const rows = await selectStored(db, agent);
  const entries = rows.map(async ({ row, skillSlug, versions, requiredEnv, served }) => {
    const { key } = row;
    const spec = requiredEnvOf({ requiredEnv }).find(({ name }) => name === key);
    const { sensitive: hidden } = protectionOf(versions, served ? spec : undefined);
    const sensitive = hidden || row.sensitive || (spec?.sensitive ?? false);
    const value = sensitive ? {} : { value: await cipher.open(row, envPlace(agent.id, row.skillId, key)) };
    return { skillSlug, entry: { key, sensitive, ...value, configured: true } };
  });
  const bySkill = Map.groupBy(await Promise.all(entries), ({ skillSlug }) => skillSlug);
  return [...bySkill].map(([skillSlug, list]) => ({ skillSlug, env: list.map(({ entry }) => entry) }));
}

function selectStored(db: Db, agent: AgentRow) {
  const served = sql<boolean>`coalesce(${agentSkills.enabled}, false) and ${workspaceSkills.skillId} is not null`;
  return db
    .select({
      row: skillEnv,
      skillSlug: skills.slug,
      versions: declarations,
      requiredEnv: skillVersions.requiredEnv,
      served,
    })
    .from(skillEnv)
    .innerJoin(skills, eq(skills.id, skillEnv.skillId))
    .leftJoin(agentSkills, and(eq(agentSkills.skillId, skills.id), eq(agentSkills.agentId, agent.id)))
    .leftJoin(
      workspaceSkills,
      and(eq(workspaceSkills.skillId, skills.id), eq(workspaceSkills.workspaceId, agent.workspaceId)),
    )
    .innerJoin(skillVersions, eq(skillVersions.id, usedVersionId))
    .where(eq(skillEnv.agentId, agent.id))
    .orderBy(asc(skills.slug), asc(skillEnv.key));
}
