import { eq, sql } from "drizzle-orm";
import { type Ctx, write } from "../../context.ts";
import { EngineError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { writeArray } from "../../db/arrays.ts";
import { type Db, sqlState } from "../../db/client.ts";
import { skills, skillVersions } from "../../db/schema.ts";
import { readVersions, slugTaken } from "./catalogue.ts";
import { authorOf, requireUsable, type SkillRow, versionFieldsOf } from "./find.ts";
import type { ImportAnswer, ImportedSkill } from "./import-schema.ts";
import { type NumberedVersion, planImport, slugOf } from "./rules.ts";

type Outcome = "created" | "updated" | "skipped";

/**
 * Stores the skills: new ones with their history; those that are there get the versions they lack. All or nothing.
 * Throws 400 for tools that nobody here can use, 409 for a slug that another name has.
 */
export async function importSkills(ctx: Ctx, list: readonly ImportedSkill[]): Promise<Omit<ImportAnswer, "ignored">> {
  const outcomes: Record<Outcome, string[]> = { created: [], updated: [], skipped: [] };
  const summary: Record<string, unknown> = {};
  const change = { action: "skill.import", target: list.length === 1 ? slugOf(list[0]?.name ?? "") : "catalogue" };
  try {
    await write(ctx, { ...change, summary }, async (tx) => {
      const tools = list.map((one, index) => ({ path: `skills.${index}.requiredTools`, names: one.requiredTools }));
      await requireUsable(tx, ctx, tools);
      Object.assign(outcomes, { created: [], updated: [], skipped: [] });
      const stored = await lockSkills(tx, ctx, list);
      for (const skill of list) {
        const slug = slugOf(skill.name);
        outcomes[await importOne(tx, ctx, skill, stored.get(slug))].push(slug);
      }
      Object.assign(summary, outcomes);
    });
  } catch (error) {
    if (sqlState(error) !== "23505") throw error;
    throw new EngineError("conflict", "One of the skills was made just now by somebody else: import again");
  }
  const { created, updated, skipped } = outcomes;
  return { created: created.length, updated: updated.length, skipped: skipped.length };
}

/** Those of the skills that are there, by slug; nobody else changes them until the transaction ends. */
async function lockSkills(tx: Db, { membership }: Ctx, list: readonly ImportedSkill[]): Promise<Map<string, SkillRow>> {
  const slugs = list.map(({ name }) => slugOf(name));
  const rows = await tx
    .select()
    .from(skills)
    .where(
      sql`${skills.organizationId} = ${membership.organizationId} and ${skills.slug} = any(${writeArray(slugs)}::text[])`,
    )
    .orderBy(skills.slug)
    .for("no key update");
  return new Map(rows.map((row) => [row.slug, row]));
}

async function importOne(tx: Db, ctx: Ctx, skill: ImportedSkill, row: SkillRow | undefined): Promise<Outcome> {
  if (row && row.name !== skill.name) throw slugTaken(row.slug);
  const stored = row ? await readVersions(tx, row.id) : [];
  const { additions, current } = planImport(
    stored.map((one) => ({ ...versionFieldsOf(one), version: one.version })),
    skill,
  );
  const skillId = row?.id ?? (await insertSkill(tx, ctx, skill));
  if (additions.length > 0) {
    const rows = additions.map((version) => toRow(ctx, skillId, version));
    await tx.insert(skillVersions).values(rows);
    await makeCurrent(tx, ctx, skillId, current);
  }
  if (!row) return "created";
  const moved = skill.category !== undefined && skill.category !== row.category;
  if (moved) await tx.update(skills).set({ category: skill.category }).where(eq(skills.id, row.id));
  return moved || additions.length > 0 ? "updated" : "skipped";
}

async function insertSkill(tx: Db, ctx: Ctx, { name, category }: ImportedSkill): Promise<string> {
  const [id, author] = [newId(), authorOf(ctx)];
  const by = { organizationId: ctx.membership.organizationId, createdBy: author, updatedBy: author };
  await tx.insert(skills).values({ ...by, id, slug: slugOf(name), name, category });
  return id;
}

function toRow(ctx: Ctx, skillId: string, { createdAt, changelog, ...version }: NumberedVersion) {
  const at = createdAt === undefined ? {} : { createdAt: new Date(createdAt) };
  return { ...version, ...at, id: newId(), skillId, changelog: changelog ?? null, createdBy: authorOf(ctx) };
}

async function makeCurrent(tx: Db, ctx: Ctx, skillId: string, version: string): Promise<void> {
  const ofSkill = tx
    .select({ id: skillVersions.id })
    .from(skillVersions)
    .where(sql`${skillVersions.skillId} = ${skillId} and ${skillVersions.version} = ${version}`);
  await tx
    .update(skills)
    .set({ currentVersionId: sql`(${ofSkill})`, updatedBy: authorOf(ctx), updatedAt: sql`now()` })
    .where(eq(skills.id, skillId));
}
