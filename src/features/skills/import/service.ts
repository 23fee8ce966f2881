import { sql } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import { EngineError } from "../../../core/errors.ts";
import { writeArray } from "../../../db/arrays.ts";
import { type Db, sqlState } from "../../../db/client.ts";
import { skills } from "../../../db/schema.ts";
import { writeOrganization } from "../../organizations/index.ts";
import { isPrePluginName } from "../../tools/index.ts";
import { withinBounds } from "../bounds.ts";
import { requireUsable, type SkillRow } from "../find.ts";
import { slugOf } from "../rules.ts";
import { planAll, type SkillPlan } from "./plan.ts";
import type { ImportAnswer, ImportedSkill } from "./schema.ts";
import { isMoved, storePlans } from "./store.ts";

type Outcome = "created" | "updated" | "skipped";

/**
 * Stores the skills, all or none: new ones with their history; existing ones get the versions that they lack. Throws
 * 400 for tools that the organization can't use; 409 for a slug that a skill of another name has, when no version
 * number is left, and when versions or skills become too many or too large.
 */
export async function importSkills(ctx: Ctx, list: readonly ImportedSkill[]): Promise<Omit<ImportAnswer, "ignored">> {
  const outcomes: Record<Outcome, string[]> = { created: [], updated: [], skipped: [] };
  const summary: Record<string, unknown> = {};
  const change = { action: "skill.import", target: list.length === 1 ? slugOf(list[0]?.name ?? "") : "catalogue" };
  try {
    const unchanged = () => outcomes.created.length + outcomes.updated.length === 0;
    await writeOrganization(ctx, { ...change, summary, unchanged }, async (tx) => {
      await requireUsable(tx, ctx, toolFields(list));
      Object.assign(outcomes, { created: [], updated: [], skipped: [] });
      const stored = await lockSkills(tx, ctx, list);
      const plans = await planAll(tx, list, stored);
      await withinBounds(tx, ctx, () => storePlans(tx, ctx, plans));
      for (const plan of plans) outcomes[outcomeOf(plan)].push(plan.slug);
      Object.assign(summary, outcomes);
    });
  } catch (error) {
    if (sqlState(error) !== "23505") throw error;
    throw new EngineError("conflict", "One of the skills was made just now by somebody else: import again");
  }
  const { created, updated, skipped } = outcomes;
  return { created: created.length, updated: updated.length, skipped: skipped.length };
}

/** The tools to check. A history may contain removed tools, but not names from before plugins, which are refused. */
function toolFields(list: readonly ImportedSkill[]) {
  return list.flatMap(({ requiredTools, versions = [] }, index) => [
    { path: `skills.${index}.requiredTools`, names: requiredTools },
    ...versions.map((version, at) => ({
      path: `skills.${index}.versions.${at}.requiredTools`,
      names: version.requiredTools.filter(isPrePluginName),
    })),
  ]);
}

/** Those of the skills that are stored, by slug, locked against other changes until the transaction ends. */
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

function outcomeOf(plan: SkillPlan): Outcome {
  if (plan.row === null) return "created";
  return plan.additions.length > 0 || isMoved(plan) ? "updated" : "skipped";
}
