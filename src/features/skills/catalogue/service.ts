import { eq, sql } from "drizzle-orm";
import { authorOf, type Ctx } from "../../../context/ctx.ts";
import { write } from "../../../context/write.ts";
import { type Changes, changesBetween } from "../../../core/changes.ts";
import { EngineError } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import { sortByName } from "../../../core/text/names.ts";
import { sqlState } from "../../../db/client.ts";
import { skills, skillVersions } from "../../../db/schema.ts";
import { invalid } from "../../../http/errors.ts";
import { syncSkillTools, touchAgents } from "../../agents/index.ts";
import { writeOrganization } from "../../organizations/index.ts";
import { agentsKnowing } from "../affected-agents.ts";
import { withinBounds } from "../bounds.ts";
import {
  currentVersion,
  findSkill,
  lockSkill,
  requiredEnvOf,
  requireUsable,
  type ShownVersion,
  type SkillRow,
  selectCurrent,
  versionFieldsOf,
} from "../find.ts";
import { firstVersion, nextVersion, requireVersions, slugOf } from "../rules.ts";
import type { NewSkill, Skill, SkillChanges } from "./schema.ts";

/** The organization's skills, by name. */
export async function listSkills({ db, membership }: Ctx): Promise<Skill[]> {
  const rows = await selectCurrent(db).where(eq(skills.organizationId, membership.organizationId)).orderBy(skills.slug);
  return sortByName(rows.map(({ skill, version }) => toSkill(skill, version)));
}

/** Throws the 404. */
export async function getSkill(ctx: Ctx, slug: string): Promise<Skill> {
  const { skill, version } = await findSkill(ctx, slug);
  return toSkill(skill, version);
}

/**
 * Creates a skill with its first version. Throws 400 for tools that the organization can't use; 409 for a taken slug,
 * and when the skills become too many or too large.
 */
export async function createSkill(ctx: Ctx, { name, category, ...fields }: NewSkill): Promise<Skill> {
  const [id, versionId, slug, author] = [newId(), newId(), slugOf(name), authorOf(ctx)];
  try {
    const change = { action: "skill.create", target: slug, summary: { version: firstVersion } };
    await writeOrganization(ctx, change, async (tx) => {
      await requireUsable(tx, ctx, [{ path: "requiredTools", names: fields.requiredTools }]);
      const by = { organizationId: ctx.membership.organizationId, createdBy: author, updatedBy: author };
      const number = { id: versionId, skillId: id, version: firstVersion, createdBy: author };
      await withinBounds(tx, ctx, async () => {
        await tx.insert(skills).values({ ...by, id, slug, name, category, currentVersionId: versionId });
        await tx.insert(skillVersions).values({ ...number, ...fields });
      });
    });
  } catch (error) {
    throw sqlState(error) === "23505" ? slugTaken(slug) : error;
  }
  return getSkill(ctx, slug);
}

export const slugTaken = (slug: string) =>
  new EngineError("conflict", `The slug ${slug} is taken: change that skill, or choose another name`);

/**
 * Saves a new version, with the scripts of the previous one. Throws 404; 400 for another name and for unusable tools;
 * 409 when no version number is left, or the versions become too many or the skills too large.
 */
export async function updateSkill(ctx: Ctx, slug: string, changes: SkillChanges): Promise<Skill> {
  const { name, category, changelog, ...fields } = changes;
  const changed: Changes = {};
  await writeOrganization(ctx, { action: "skill.update", target: slug, changes: changed }, async (tx) => {
    const skill = await lockSkill(tx, ctx, slug);
    if (name !== undefined && name !== skill.name) throw fixedName(skill.name);
    await requireUsable(tx, ctx, [{ path: "requiredTools", names: fields.requiredTools }]);
    requireVersions(slug, (await tx.$count(skillVersions, eq(skillVersions.skillId, skill.id))) + 1);
    const before = await currentVersion(tx, skill);
    const { version, scripts } = before;
    const told = { ...versionFieldsOf(before), category: skill.category, version };
    Object.assign(changed, changesBetween(told, { ...fields, category, version: nextVersion(version) }));
    const number = { id: newId(), skillId: skill.id, version: nextVersion(version), createdBy: authorOf(ctx) };
    await withinBounds(tx, ctx, async () => {
      await tx.insert(skillVersions).values({ ...number, ...fields, scripts, changelog: changelog ?? null });
      await tx
        .update(skills)
        .set({ currentVersionId: number.id, category, updatedBy: authorOf(ctx), updatedAt: sql`now()` })
        .where(eq(skills.id, skill.id));
    });
    // The new version may restrict values that agents have stored.
    await touchAgents(tx, await agentsKnowing(tx, [skill.id]));
  });
  return getSkill(ctx, slug);
}

function fixedName(name: string): EngineError {
  return invalid([{ path: ["name"], message: `is fixed: it stays ${JSON.stringify(name)}` }]);
}

/** Deletes a skill with its versions, and removes it from agents. Throws the 404. */
export async function deleteSkill(ctx: Ctx, slug: string): Promise<void> {
  const summary: Record<string, unknown> = {};
  await write(ctx, { action: "skill.delete", target: slug, summary }, async (tx) => {
    // The stronger lock, so that no agent enables the skill meanwhile.
    const { id } = await lockSkill(tx, ctx, slug, "update");
    const affected = await agentsKnowing(tx, [id]);
    await tx.delete(skills).where(eq(skills.id, id));
    await syncSkillTools(tx, ctx, affected.ids);
    await touchAgents(tx, affected);
    summary.agents = affected.slugs;
  });
}

/** A skill in its API form. */
export function toSkill({ name, slug, category }: SkillRow, row: ShownVersion): Skill {
  const { description, content, requiredTools, version } = row;
  return { name, slug, category, description, content, requiredEnv: requiredEnvOf(row), requiredTools, version };
}
