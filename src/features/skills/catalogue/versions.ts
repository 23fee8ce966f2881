import { and, eq, sql } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import { notFound } from "../../../core/errors.ts";
import type { Db } from "../../../db/client.ts";
import { skillVersions } from "../../../db/schema.ts";
import { countFitting } from "../../../http/paging.ts";
import { findSkill, versionFieldsOf } from "../find.ts";
import type { ImportedSkill } from "../import/schema.ts";
import type { SkillVersion, SkillVersions } from "./schema.ts";
import { toSkill } from "./service.ts";

const newestFirst = sql`string_to_array(${skillVersions.version}, '.')::int[] desc`;

/** The versions of a skill, newest first. Throws the 404. */
export async function listVersions(ctx: Ctx, slug: string): Promise<SkillVersions["versions"]> {
  const { skill } = await findSkill(ctx, slug);
  const { id, version, changelog, createdAt } = skillVersions;
  const rows = await ctx.db
    .select({ id, version, changelog, createdAt })
    .from(skillVersions)
    .where(eq(skillVersions.skillId, skill.id))
    .orderBy(newestFirst);
  return rows.map((row) => ({ ...row, createdAt: row.createdAt.toISOString() }));
}

/** The skill's version with this number. Throws the 404 of the skill, or of the version. */
export async function getVersion(ctx: Ctx, slug: string, number: string): Promise<SkillVersion> {
  const { skill } = await findSkill(ctx, slug);
  const [row] = await readVersions(ctx.db, skill.id, number.includes("\u0000") ? "" : number);
  if (!row) throw notFound("Version");
  return {
    ...toSkill(skill, row),
    id: row.id,
    changelog: row.changelog,
    createdAt: row.createdAt.toISOString(),
  };
}

/** The skill with its versions, in the form of an import; only the newest versions when they are large. Throws the 404. */
export async function exportSkill(ctx: Ctx, slug: string): Promise<ImportedSkill> {
  const { skill, version: shown } = await findSkill(ctx, slug);
  const [current] = await readVersions(ctx.db, skill.id, shown.version);
  if (!current) throw notFound("Skill");
  const sizes = await ctx.db
    .select({ bytes: sql<number>`octet_length(${skillVersions}::text)` })
    .from(skillVersions)
    .where(eq(skillVersions.skillId, skill.id))
    .orderBy(newestFirst);
  const rows = await readVersions(ctx.db, skill.id).limit(countFitting(sizes.map(({ bytes }) => bytes)));
  const versions = rows.map((row) => ({
    version: row.version,
    ...versionFieldsOf(row),
    changelog: row.changelog,
    createdAt: row.createdAt.toISOString(),
  }));
  return { name: skill.name, category: skill.category, ...versionFieldsOf(current), versions };
}

/** The whole rows of a skill's versions, newest first: all of them, or the one with this number. */
function readVersions(db: Db, skillId: string, number?: string) {
  const one = number === undefined ? undefined : eq(skillVersions.version, number);
  return db
    .select()
    .from(skillVersions)
    .where(and(eq(skillVersions.skillId, skillId), one))
    .orderBy(newestFirst);
}
