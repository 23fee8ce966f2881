import { sql } from "drizzle-orm";
import { newId } from "../../../core/ids.ts";
import { writeArray } from "../../../db/arrays.ts";
import type { Db } from "../../../db/client.ts";
import { skillVersions } from "../../../db/schema.ts";
import { slugTaken } from "../catalogue/service.ts";
import { type SkillRow, type VersionRow, versionFieldsOf } from "../find.ts";
import { compareVersions, type NumberedVersion, planImport, requireVersions, slugOf } from "../rules.ts";
import type { ImportedSkill } from "./schema.ts";

/** The change that an import makes to one skill. */
export interface SkillPlan {
  id: string;
  slug: string;
  skill: ImportedSkill;
  /** The stored skill; null for a new one. */
  row: SkillRow | null;
  additions: (NumberedVersion & { id: string })[];
  currentId: string;
}

type StoredNumber = Pick<VersionRow, "id" | "skillId" | "version">;

/** The most stored versions of one read; each may be as large as an import. */
const batch = 25;

/**
 * Plans the import of each skill. `rows` are the stored skills by slug. Throws 409 for a slug that a skill of another
 * name has, and for too many versions.
 */
export async function planAll(
  tx: Db,
  list: readonly ImportedSkill[],
  rows: ReadonlyMap<string, SkillRow>,
): Promise<SkillPlan[]> {
  const taken = list
    .map(({ name }) => rows.get(slugOf(name)))
    .find((row, index) => row && row.name !== list[index]?.name);
  if (taken) throw slugTaken(taken.slug);
  const numbers = await readNumbers(tx, [...rows.values()]);
  const plans: SkillPlan[] = [];
  for (let from = 0; from < list.length; from += batch) {
    const some = list.slice(from, from + batch).map((skill) => {
      const row = rows.get(slugOf(skill.name)) ?? null;
      return { skill, row, stored: (row && numbers.get(row.id)) ?? [] };
    });
    const newest = await readAll(
      tx,
      some.flatMap(({ stored }) => newestOf(stored)?.id ?? []),
    );
    for (const { skill, row, stored } of some) plans.push(planOne(skill, row, stored, newest));
  }
  return plans;
}

function planOne(
  skill: ImportedSkill,
  row: SkillRow | null,
  stored: readonly StoredNumber[],
  read: ReadonlyMap<string, VersionRow>,
): SkillPlan {
  const ids = new Map(stored.map(({ id, version }) => [version, id]));
  const last = read.get(newestOf(stored)?.id ?? "");
  // Only the newest stored version can equal the imported one.
  const { additions, current } = planImport(last ? [{ ...versionFieldsOf(last), version: last.version }] : [], {
    ...skill,
    versions: skill.versions?.filter(({ version }) => !ids.has(version)),
  });
  if (additions.length > 0) requireVersions(slugOf(skill.name), stored.length + additions.length);
  const numbered = additions.map((version) => ({ ...version, id: newId() }));
  for (const { version, id } of numbered) ids.set(version, id);
  const currentId = ids.get(current);
  if (currentId === undefined) throw new Error("A plan names a version of its skill");
  return { id: row?.id ?? newId(), slug: slugOf(skill.name), skill, row, additions: numbered, currentId };
}

function newestOf(stored: readonly StoredNumber[]): StoredNumber | undefined {
  return stored.reduce<StoredNumber | undefined>(
    (newest, one) => (newest && compareVersions(newest.version, one.version) > 0 ? newest : one),
    undefined,
  );
}

/** The numbers of stored versions, by skill. */
async function readNumbers(tx: Db, rows: readonly SkillRow[]): Promise<Map<string, StoredNumber[]>> {
  const { id, skillId, version } = skillVersions;
  const found =
    rows.length === 0
      ? []
      : await tx
          .select({ id, skillId, version })
          .from(skillVersions)
          .where(sql`${skillId} = any(${writeArray(rows.map((row) => row.id))}::uuid[])`);
  return Map.groupBy(found, (one) => one.skillId);
}

/** The whole rows of these versions, by id. */
async function readAll(tx: Db, ids: readonly string[]): Promise<Map<string, VersionRow>> {
  const found =
    ids.length === 0
      ? []
      : await tx
          .select()
          .from(skillVersions)
          .where(sql`${skillVersions.id} = any(${writeArray(ids)}::uuid[])`);
  return new Map(found.map((row) => [row.id, row]));
}
