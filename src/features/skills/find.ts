import { and, eq, getTableColumns } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import { notFound } from "../../core/errors.ts";
import { isUuid } from "../../core/ids.ts";
import type { Db } from "../../db/client.ts";
import { skills, skillVersions, workspaces } from "../../db/schema.ts";
import { invalid } from "../../http/errors.ts";
import { type ToolOffer, unusableTools } from "../tools/index.ts";
import { isSkillSlug, namesHostsInVain, type Script, type VersionFields } from "./rules.ts";
import type { RequiredEnv } from "./schema.ts";

export type SkillRow = typeof skills.$inferSelect;
export type VersionRow = typeof skillVersions.$inferSelect;
/** A version without its scripts, which may have 8 MiB and are in few responses. */
export type ShownVersion = Omit<VersionRow, "scripts">;

type Reader = Pick<Ctx, "membership">;

const inCatalogue = ({ membership }: Reader, slug: string) =>
  and(eq(skills.organizationId, membership.organizationId), eq(skills.slug, slug));

const { scripts: _, ...shownColumns } = getTableColumns(skillVersions);

/** The skills of the organization, each with its current version. */
export function selectCurrent(db: Db) {
  return db
    .select({ skill: skills, version: shownColumns })
    .from(skills)
    .innerJoin(skillVersions, eq(skillVersions.id, skills.currentVersionId));
}

/** The skill with its current version. Throws the 404. */
export async function findSkill(ctx: Ctx, slug: string): Promise<{ skill: SkillRow; version: ShownVersion }> {
  const [found] = isSkillSlug(slug) ? await selectCurrent(ctx.db).where(inCatalogue(ctx, slug)) : [];
  if (!found) throw notFound("Skill");
  return found;
}

/** The skill, locked against other changes until the transaction ends. Throws the 404. */
export async function lockSkill(
  tx: Db,
  ctx: Reader,
  slug: string,
  strength: "no key update" | "update" = "no key update",
): Promise<SkillRow> {
  const [skill] = isSkillSlug(slug) ? await tx.select().from(skills).where(inCatalogue(ctx, slug)).for(strength) : [];
  if (!skill) throw notFound("Skill");
  return skill;
}

/**
 * The current version. Read after the lock by a second statement: the locking statement would see the version from
 * before the lock.
 */
export async function currentVersion(tx: Db, { currentVersionId }: SkillRow): Promise<VersionRow> {
  const [version] =
    currentVersionId === null
      ? []
      : await tx.select().from(skillVersions).where(eq(skillVersions.id, currentVersionId));
  if (!version) throw new Error("A skill has a current version");
  return version;
}

/** The id of a reachable workspace of the organization. Throws the 404. */
export async function findWorkspace(db: Db, { membership }: Ctx, id: string): Promise<string> {
  const scope = membership.workspaceIds;
  const [workspace] =
    isUuid(id) && (scope === null || scope.includes(id.toLowerCase()))
      ? await db
          .select({ id: workspaces.id })
          .from(workspaces)
          .where(and(eq(workspaces.id, id), eq(workspaces.organizationId, membership.organizationId)))
      : [];
  if (!workspace) throw notFound("Workspace");
  return workspace.id;
}

/** Throws the 400 that lists the tools that the organization can't use; `path` is the field with the tools. */
export async function requireUsable(
  db: Db,
  ctx: ToolOffer & Pick<Ctx, "membership">,
  fields: readonly { path: string; names: readonly string[] }[],
): Promise<void> {
  const all = [...new Set(fields.flatMap(({ names }) => names))];
  const unusable = new Set(await unusableTools(db, ctx, ctx.membership, all));
  const issues = fields.flatMap(({ path, names }) => {
    const wrong = names.filter((name) => unusable.has(name));
    return wrong.length === 0
      ? []
      : [{ path: [path], message: `this organization has no such tool: ${wrong.join(", ")}` }];
  });
  if (issues.length > 0) throw invalid(issues);
}

/** The variables that a version declares, from JSON. A variable with hosts is always sensitive. */
export function requiredEnvOf(row: Pick<VersionRow, "requiredEnv">): RequiredEnv[] {
  const specs = row.requiredEnv as RequiredEnv[];
  return specs.map((spec) => (namesHostsInVain(spec) ? { ...spec, sensitive: true } : spec));
}

/** The fields of a version, without its number. */
export function versionFieldsOf(row: Omit<VersionRow, "id" | "skillId" | "createdBy">): VersionFields {
  const { description, content, requiredTools } = row;
  return { description, content, requiredEnv: requiredEnvOf(row), requiredTools, scripts: row.scripts as Script[] };
}
