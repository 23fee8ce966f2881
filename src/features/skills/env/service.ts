import { and, asc, count, eq, sql } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import { EngineError, notFound } from "../../../core/errors.ts";
import { shortSecretProblem } from "../../../core/scrub/scrub.ts";
import type { Db } from "../../../db/client.ts";
import { excluded } from "../../../db/fragments.ts";
import { agentSkills, skillEnv, skills, skillVersions, workspaceSkills } from "../../../db/schema.ts";
import { invalid } from "../../../http/errors.ts";
import { type AgentRow, findAgent, writeAgent } from "../../agents/index.ts";
import { requireRoom } from "../../secrets/index.ts";
import { usedVersionId } from "../agent/describe.ts";
import { requiredEnvOf } from "../find.ts";
import { isSkillSlug, protectionOf } from "../rules.ts";
import type { RequiredEnv } from "../schema.ts";
import { declarations, envPlace } from "./load.ts";
import type { EnvItem, SkillEnv } from "./schema.ts";

/** The most variables of one skill that an agent stores. */
export const maxKeys = 256;

interface SkillOfAgent {
  id: string;
  versionId: string;
  declared: ReadonlyMap<string, RequiredEnv>;
  /** Whether the agent's turns get this version. */
  served: boolean;
}

/** The variables that the skill declares, then all others that are stored for it. Throws the 404 of agent and skill. */
export async function listEnv(ctx: Ctx, slug: string, skillSlug: string): Promise<SkillEnv["env"]> {
  const agent = await findAgent(ctx, slug);
  const { id, declared, served } = await findSkillOf(ctx.db, agent, skillSlug);
  const rows = await ctx.db
    .select({ row: skillEnv, versions: declarations })
    .from(skillEnv)
    .where(ofSkill(agent.id, id))
    .orderBy(asc(skillEnv.key));
  const stored = new Map(rows.map((one) => [one.row.key, one]));
  const keys = new Set([...declared.keys(), ...stored.keys()]);
  const entries = [...keys].map(async (key) => {
    const spec = declared.get(key);
    const { row, versions = [] } = stored.get(key) ?? {};
    const hidden = protectionOf(versions, served ? spec : undefined).sensitive;
    const sensitive = hidden || (row?.sensitive ?? false) || (spec?.sensitive ?? false);
    const value = row && !sensitive ? await ctx.cipher.open(row, envPlace(agent.id, id, key)) : "";
    return { key, value, sensitive, configured: row !== undefined, description: spec?.description ?? "" };
  });
  return Promise.all(entries);
}

/**
 * Stores these variables; the others stay. Skips an empty sensitive value. Throws 404; 400 for too many or too large
 * ones, and for sensitive ones that are too short to be scrubbed.
 */
export async function putEnv(
  ctx: Ctx,
  slug: string,
  skillSlug: string,
  items: readonly EnvItem[],
): Promise<SkillEnv["env"]> {
  const summary = { skill: skillSlug, keys: [] as string[] };
  const unchanged = () => summary.keys.length === 0;
  await writeAgent(ctx, slug, { action: "agent.skill.env.update", summary, unchanged }, async (tx, agent) => {
    summary.keys = await storeEnv(tx, ctx, agent, skillSlug, items, ["env"]);
  });
  return listEnv(ctx, slug, skillSlug);
}

/**
 * `putEnv` in a transaction of `writeAgent`. Returns the stored keys. `path`, for the 400, is where the items are in
 * the body.
 */
export async function storeEnv(
  tx: Db,
  ctx: Ctx,
  agent: AgentRow,
  skillSlug: string,
  items: readonly EnvItem[],
  path: readonly (string | number)[],
): Promise<string[]> {
  const skill = await findSkillOf(tx, agent, skillSlug);
  const rows = await sealItems(tx, ctx, agent.id, skill, items, path);
  if (rows.length === 0) return [];
  await tx
    .insert(skillEnv)
    .values(rows)
    .onConflictDoUpdate({
      target: [skillEnv.agentId, skillEnv.skillId, skillEnv.key],
      set: {
        sensitive: excluded(skillEnv.sensitive),
        versionId: excluded(skillEnv.versionId),
        keyId: excluded(skillEnv.keyId),
        ciphertext: excluded(skillEnv.ciphertext),
        updatedAt: sql`now()`,
      },
    });
  const [kept] = await tx.select({ keys: count() }).from(skillEnv).where(ofSkill(agent.id, skill.id));
  if (kept && kept.keys > maxKeys) {
    throw new EngineError(
      "bad-request",
      `env: an agent keeps at most ${maxKeys} variables of a skill; delete some first`,
    );
  }
  await requireRoom(tx, agent.id);
  return rows.map(({ key }) => key);
}

/** Deletes a variable. Idempotent. Throws the 404 of agent and skill. */
export async function deleteEnv(ctx: Ctx, slug: string, skillSlug: string, key: string): Promise<void> {
  const summary = { skill: skillSlug, keys: [key] };
  let gone = 0;
  const unchanged = () => gone === 0;
  await writeAgent(ctx, slug, { action: "agent.skill.env.delete", summary, unchanged }, async (tx, agent) => {
    const { id } = await findSkillOf(tx, agent, skillSlug);
    const own = and(ofSkill(agent.id, id), eq(skillEnv.key, key));
    gone = (await tx.delete(skillEnv).where(own).returning({ key: skillEnv.key })).length;
  });
}

/**
 * The rows to store. A variable that the skill declares sensitive is sensitive, even if the request says otherwise.
 * Throws 400 for sensitive values that are too short to be scrubbed.
 */
async function sealItems(
  tx: Db,
  ctx: Ctx,
  agentId: string,
  { id, versionId, declared }: SkillOfAgent,
  items: readonly EnvItem[],
  path: readonly (string | number)[],
) {
  const rows = await tx
    .select({ key: skillEnv.key, sensitive: skillEnv.sensitive })
    .from(skillEnv)
    .where(ofSkill(agentId, id));
  const stored = new Map(rows.map(({ key, sensitive }) => [key, sensitive]));
  const wanted = items.map(({ key, value, sensitive }) => {
    const spec = declared.get(key)?.sensitive;
    return { key, value, sensitive: spec === true || (sensitive ?? stored.get(key) ?? spec ?? true) };
  });
  const given = wanted.filter(({ value, sensitive }) => !(sensitive && value === ""));
  const issues = wanted.flatMap(({ value, sensitive }, index) => {
    const message = sensitive && value !== "" ? shortSecretProblem(value) : null;
    return message === null ? [] : [{ path: [...path, index, "value"], message }];
  });
  if (issues.length > 0) throw invalid(issues);
  return Promise.all(
    given.map(async ({ key, value, sensitive }) => {
      const sealed = await ctx.cipher.seal(value, envPlace(agentId, id, key));
      return { agentId, skillId: id, key, sensitive, versionId, ...sealed };
    }),
  );
}

const ofSkill = (agentId: string, skillId: string) => and(eq(skillEnv.agentId, agentId), eq(skillEnv.skillId, skillId));

/** A skill of the catalogue, with the variables of the version that the agent has. Throws the 404. */
export async function findSkillOf(db: Db, agent: AgentRow, skillSlug: string): Promise<SkillOfAgent> {
  const served = sql<boolean>`coalesce(${agentSkills.enabled}, false) and ${workspaceSkills.skillId} is not null`;
  const [row] = isSkillSlug(skillSlug)
    ? await db
        .select({ id: skills.id, versionId: skillVersions.id, requiredEnv: skillVersions.requiredEnv, served })
        .from(skills)
        .leftJoin(agentSkills, and(eq(agentSkills.skillId, skills.id), eq(agentSkills.agentId, agent.id)))
        .leftJoin(
          workspaceSkills,
          and(eq(workspaceSkills.skillId, skills.id), eq(workspaceSkills.workspaceId, agent.workspaceId)),
        )
        .innerJoin(skillVersions, eq(skillVersions.id, usedVersionId))
        .where(and(eq(skills.organizationId, agent.organizationId), eq(skills.slug, skillSlug)))
    : [];
  if (!row) throw notFound("Skill");
  return {
    id: row.id,
    versionId: row.versionId,
    served: row.served,
    declared: new Map(requiredEnvOf(row).map((spec) => [spec.name, spec])),
  };
}
