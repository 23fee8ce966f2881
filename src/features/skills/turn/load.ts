import { and, eq } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import type { Db } from "../../../db/client.ts";
import { agentSkills, skills, skillVersions, workspaceSkills } from "../../../db/schema.ts";
import { type ToolOffer, unusableTools } from "../../tools/index.ts";
import { type LoadedEnv, loadEnv } from "../env/load.ts";
import { versionFieldsOf } from "../find.ts";
import type { Script } from "../rules.ts";

/** A skill, as turns use it. */
export interface LoadedSkill {
  slug: string;
  name: string;
  description: string;
  content: string;
  version: string;
  autoLoad: boolean;
  scripts: Script[];
  requiredTools: string[];
  env: LoadedEnv[];
  /** Declared variables without a value. A skill with missing variables or tools is shown as unavailable. */
  missingEnv: string[];
  missingTools: string[];
}

export interface LoadedSkills {
  /** The skills in use, by slug. */
  served: LoadedSkill[];
  /** All stored values, including those of skills that are not in use. */
  env: LoadedEnv[];
}

/**
 * The skills of the agent's turns: those in the catalogue that its workspace allows and that it has enabled, each in
 * its pinned version. Takes two queries, and up to two more when skills require tools that are not built in. Rejects
 * when a value does not open, which means a wrong key.
 */
export async function loadSkills(
  db: Db,
  services: ToolOffer & Pick<Services, "cipher">,
  { agentId, workspaceId }: { agentId: string; workspaceId: string },
): Promise<LoadedSkills> {
  const served = await db
    .select({ skill: skills, version: skillVersions, autoLoad: agentSkills.autoLoad })
    .from(agentSkills)
    .innerJoin(skills, eq(skills.id, agentSkills.skillId))
    .innerJoin(
      workspaceSkills,
      and(eq(workspaceSkills.skillId, skills.id), eq(workspaceSkills.workspaceId, workspaceId)),
    )
    .innerJoin(skillVersions, eq(skillVersions.id, agentSkills.pinnedVersionId))
    .where(and(eq(agentSkills.agentId, agentId), agentSkills.enabled))
    .orderBy(skills.slug);
  const versions = new Map(served.map(({ skill, version }) => [skill.slug, versionFieldsOf(version)]));
  const env = await loadEnv(db, services.cipher, agentId, (skill, key) =>
    versions.get(skill)?.requiredEnv.find(({ name }) => name === key),
  );
  const required = new Set(served.flatMap(({ version }) => version.requiredTools));
  const organizationId = served[0]?.skill.organizationId ?? "";
  const unusable = new Set(
    await unusableTools(db, services, { organizationId, agent: { id: agentId, workspaceId } }, [...required]),
  );
  const loaded = served.map(({ skill, version, autoLoad }): LoadedSkill => {
    const { requiredEnv, requiredTools, ...fields } = versionFieldsOf(version);
    const own = env.filter((one) => one.skill === skill.slug);
    const stored = new Set(own.map(({ key }) => key));
    return {
      slug: skill.slug,
      name: skill.name,
      ...fields,
      version: version.version,
      autoLoad,
      requiredTools,
      env: own,
      missingEnv: requiredEnv.map(({ name }) => name).filter((name) => !stored.has(name)),
      missingTools: requiredTools.filter((name) => unusable.has(name)),
    };
  });
  return { served: loaded, env };
}
