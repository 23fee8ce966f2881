import { and, eq } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import { write } from "../../../context/write.ts";
import type { Db } from "../../../db/client.ts";
import { skills, workspaceSkills } from "../../../db/schema.ts";
import { syncSkillTools, touchAgents } from "../../agents/index.ts";
import { agentsWith } from "../affected-agents.ts";
import { findWorkspace, lockSkill } from "../find.ts";

/** The slugs of a workspace's allowed skills. Throws the 404 of the workspace. */
export async function listAllowed(ctx: Ctx, workspaceId: string): Promise<string[]> {
  const id = await findWorkspace(ctx.db, ctx, workspaceId);
  const rows = await ctx.db
    .select({ slug: skills.slug })
    .from(workspaceSkills)
    .innerJoin(skills, eq(skills.id, workspaceSkills.skillId))
    .where(eq(workspaceSkills.workspaceId, id))
    .orderBy(skills.slug);
  return rows.map(({ slug }) => slug);
}

/** Allows a skill. Idempotent. Agents that still have it enabled get it again. Throws 404. */
export async function allowSkill(ctx: Ctx, workspaceId: string, slug: string): Promise<void> {
  await changeAllowance(ctx, "skill.allow", [workspaceId, slug], async (tx, row) => {
    const added = await tx.insert(workspaceSkills).values(row).onConflictDoNothing().returning();
    return added.length > 0;
  });
}

/** Disallows a skill. Idempotent. It stays enabled in agents, but their turns don't get it. Throws 404. */
export async function disallowSkill(ctx: Ctx, workspaceId: string, slug: string): Promise<void> {
  await changeAllowance(ctx, "skill.disallow", [workspaceId, slug], async (tx, row) => {
    const { workspaceId: workspace, skillId } = row;
    const removed = await tx
      .delete(workspaceSkills)
      .where(and(eq(workspaceSkills.workspaceId, workspace), eq(workspaceSkills.skillId, skillId)))
      .returning();
    return removed.length > 0;
  });
}

async function changeAllowance(
  ctx: Ctx,
  action: string,
  [workspaceId, slug]: [string, string],
  change: (tx: Db, row: { workspaceId: string; skillId: string }) => Promise<boolean>,
): Promise<void> {
  const summary: Record<string, unknown> = { workspaceId };
  let changed = false;
  await write(ctx, { action, target: slug, summary, unchanged: () => !changed }, async (tx) => {
    const workspace = await findWorkspace(tx, ctx, workspaceId);
    const { id } = await lockSkill(tx, ctx, slug);
    changed = await change(tx, { workspaceId: workspace, skillId: id });
    const affected = await agentsWith(tx, id, workspace);
    await syncSkillTools(tx, ctx, affected.ids);
    await touchAgents(tx, affected);
    summary.agents = affected.slugs;
  });
}
