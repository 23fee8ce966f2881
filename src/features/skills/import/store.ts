import { sql } from "drizzle-orm";
import { authorOf, type Ctx } from "../../../context/ctx.ts";
import { writeArray } from "../../../db/arrays.ts";
import type { Db } from "../../../db/client.ts";
import { skills } from "../../../db/schema.ts";
import { touchAgents } from "../../agents/index.ts";
import { agentsKnowing } from "../affected-agents.ts";
import type { SkillPlan } from "./plan.ts";

/** Stores the plans, in few statements for any number of skills. */
export async function storePlans(tx: Db, ctx: Ctx, plans: readonly SkillPlan[]): Promise<void> {
  await insertSkills(
    tx,
    ctx,
    plans.filter(({ row }) => row === null),
  );
  await insertVersions(tx, ctx, plans);
  const renewed = plans.filter(({ row, additions }) => row !== null && additions.length > 0);
  await makeCurrent(tx, ctx, renewed);
  await moveSkills(tx, plans.filter(isMoved));
  if (renewed.length === 0) return;
  // The new versions may restrict values that agents have stored.
  const affected = await agentsKnowing(
    tx,
    renewed.map(({ id }) => id),
  );
  await touchAgents(tx, affected);
}

/** Whether the import changes the skill's category. */
export function isMoved({ row, skill }: SkillPlan): boolean {
  return row !== null && skill.category !== undefined && skill.category !== row.category;
}

async function insertSkills(tx: Db, ctx: Ctx, plans: readonly SkillPlan[]): Promise<void> {
  if (plans.length === 0) return;
  const author = authorOf(ctx);
  const by = { organizationId: ctx.membership.organizationId, createdBy: author, updatedBy: author };
  await tx.insert(skills).values(
    plans.map(({ id, slug, currentId, skill: { name, category } }) => {
      return { ...by, id, slug, name, category, currentVersionId: currentId };
    }),
  );
}

async function insertVersions(tx: Db, ctx: Ctx, plans: readonly SkillPlan[]): Promise<void> {
  const rows = plans.flatMap(({ id, additions }) =>
    additions.map((one) => ({
      id: one.id,
      skill_id: id,
      version: one.version,
      description: one.description,
      content: one.content,
      required_env: one.requiredEnv,
      required_tools: one.requiredTools,
      scripts: one.scripts,
      changelog: one.changelog ?? null,
      created_at: one.createdAt === undefined ? null : new Date(one.createdAt).toISOString(),
    })),
  );
  if (rows.length === 0) return;
  await tx.execute(sql`
    insert into skill_versions (id, skill_id, version, description, content, required_env, required_tools, scripts,
      changelog, created_by, created_at)
    select v.id, v.skill_id, v.version, v.description, v.content, v.required_env, v.required_tools, v.scripts,
      v.changelog, ${authorOf(ctx)}::uuid, coalesce(v.created_at, now())
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as v(id uuid, skill_id uuid, version text,
      description text, content text, required_env jsonb, required_tools text[], scripts jsonb, changelog text,
      created_at timestamptz)`);
}

async function makeCurrent(tx: Db, ctx: Ctx, plans: readonly SkillPlan[]): Promise<void> {
  if (plans.length === 0) return;
  const [ids, versions] = [plans.map(({ id }) => id), plans.map(({ currentId }) => currentId)];
  await tx.execute(sql`
    update skills s set current_version_id = p.version_id, updated_by = ${authorOf(ctx)}::uuid, updated_at = now()
    from unnest(${writeArray(ids)}::uuid[], ${writeArray(versions)}::uuid[]) as p(id, version_id) where s.id = p.id`);
}

async function moveSkills(tx: Db, plans: readonly SkillPlan[]): Promise<void> {
  if (plans.length === 0) return;
  const [ids, categories] = [plans.map(({ id }) => id), plans.map(({ skill }) => skill.category ?? "")];
  await tx.execute(sql`
    update skills s set category = p.category
    from unnest(${writeArray(ids)}::uuid[], ${writeArray(categories)}::text[]) as p(id, category) where s.id = p.id`);
}
