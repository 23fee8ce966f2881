import { and, eq } from "drizzle-orm";
import type { Cipher } from "../../../core/cipher.ts";
import type { Db } from "../../../db/client.ts";
import { agentSkills, skillEnv, skills, skillVersions, workspaceSkills } from "../../../db/schema.ts";
import { unusableTools } from "../../tools/index.ts";
import { envPlace } from "../env/service.ts";
import { versionFieldsOf } from "../find.ts";
import type { EnvSpec, Script } from "../rules.ts";

/** A skill as a turn serves it. */
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
  /** Declared variables without a value. A skill that misses variables or tools is shown as unavailable. */
  missingEnv: string[];
  missingTools: string[];
}

/** A stored value of a variable that the pinned version declares. */
export interface LoadedEnv {
  key: string;
  value: string;
  sensitive: boolean;
  /** The hosts that it may go to; empty: all. */
  hosts: readonly string[];
}

/**
 * The skills that the agent is served, by slug: in the catalogue, allowed for its workspace and enabled, each in its
 * pinned version. Two queries, and up to two more when skills require tools that are not built in. Rejects when a value
 * does not open, which only a wrong key can cause.
 */
export async function loadSkills(
  db: Db,
  cipher: Cipher,
  { agentId, workspaceId }: { agentId: string; workspaceId: string },
): Promise<LoadedSkill[]> {
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
  const [first] = served;
  if (!first) return [];
  const rows = await db.select().from(skillEnv).where(eq(skillEnv.agentId, agentId));
  const required = new Set(served.flatMap(({ version }) => version.requiredTools));
  const user = { organizationId: first.skill.organizationId, agent: { id: agentId, workspaceId } };
  const unusable = new Set(await unusableTools(db, user, [...required]));

  const loaded = served.map(async ({ skill, version, autoLoad }): Promise<LoadedSkill> => {
    const { requiredEnv, requiredTools, ...fields } = versionFieldsOf(version);
    const env = await openEnv(
      cipher,
      rows.filter(({ skillId }) => skillId === skill.id),
      requiredEnv,
    );
    const stored = new Set(env.map(({ key }) => key));
    return {
      slug: skill.slug,
      name: skill.name,
      ...fields,
      version: version.version,
      autoLoad,
      requiredTools,
      env,
      missingEnv: requiredEnv.map(({ name }) => name).filter((name) => !stored.has(name)),
      missingTools: requiredTools.filter((name) => unusable.has(name)),
    };
  });
  return Promise.all(loaded);
}

async function openEnv(
  cipher: Cipher,
  rows: readonly (typeof skillEnv.$inferSelect)[],
  specs: readonly EnvSpec[],
): Promise<LoadedEnv[]> {
  const declared = new Map(specs.map((spec) => [spec.name, spec]));
  const opened = rows.map(async (row): Promise<LoadedEnv[]> => {
    const spec = declared.get(row.key);
    // The value was given for the hosts that another version declares, which this version does not know.
    if (!spec) return [];
    const value = await cipher.open(row, envPlace(row.agentId, row.skillId, row.key));
    return [{ key: row.key, value, sensitive: row.sensitive || spec.sensitive, hosts: spec.hosts ?? [] }];
  });
  return (await Promise.all(opened)).flat();
}
