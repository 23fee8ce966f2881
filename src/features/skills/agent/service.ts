import { and, eq, ne, or, sql } from "drizzle-orm";
import type { Ctx, Services } from "../../../context/ctx.ts";
import { type Changes, changesBetween } from "../../../core/changes.ts";
import { writeArray } from "../../../db/arrays.ts";
import type { Db } from "../../../db/client.ts";
import { excluded } from "../../../db/fragments.ts";
import { agentSkills, agentTools, skills, workspaceSkills } from "../../../db/schema.ts";
import { invalid } from "../../../http/errors.ts";
import { type AgentRow, findAgent, syncSkillTools, writeAgent } from "../../agents/index.ts";
import type { SkillRow } from "../find.ts";
import { describeSkills } from "./describe.ts";
import type { AgentSkill, AgentSkillsChanged } from "./schema.ts";

/** The skills that the agent can enable or has enabled, by slug. Throws the 404 of the agent. */
export async function listAgentSkills(ctx: Ctx, slug: string): Promise<AgentSkill[]> {
  return describeSkills(ctx.db, ctx, await findAgent(ctx, slug));
}

/**
 * Enables exactly these skills, given by slug or name. New ones get their current version; the others keep the pinned
 * one. Throws 404 for the agent, 400 for skills that are not in the catalogue or not allowed in the workspace.
 */
export async function setAgentSkills(ctx: Ctx, slug: string, names: readonly string[]): Promise<AgentSkillsChanged> {
  const changed: Changes = {};
  return writeAgent(ctx, slug, { action: "agent.skill.update", changes: changed }, async (tx, agent) => {
    const wanted = await resolveSkills(tx, agent, names);
    const before = await describeSkills(tx, ctx, agent);
    const toolsChanged: ToolsChanged = await withSkillTools(tx, ctx, agent.id, () =>
      enableExactly(tx, agent.id, wanted),
    );
    const after = await describeSkills(tx, ctx, agent);
    Object.assign(changed, changesBetween({ enabled: namesOf(before) }, { enabled: namesOf(after) }));
    return { skills: after, toolsChanged };
  });
}

const namesOf = (list: readonly AgentSkill[]) => list.flatMap(({ name, enabled }) => (enabled ? [name] : []));

/** The named skills. They and their permissions in the workspace are locked until the transaction ends. Throws the 400. */
async function resolveSkills(tx: Db, agent: AgentRow, names: readonly string[]): Promise<SkillRow[]> {
  if (names.length === 0) return [];
  const unique = [...new Set(names)];
  const list = writeArray(unique);
  const found = await tx
    .select()
    .from(skills)
    .where(
      and(
        eq(skills.organizationId, agent.organizationId),
        or(sql`${skills.slug} = any(${list}::text[])`, sql`${skills.name} = any(${list}::text[])`),
      ),
    )
    .orderBy(skills.slug)
    .for("key share");
  const known = new Set(found.flatMap(({ slug, name }) => [slug, name]));
  const allowed = await lockAllowed(tx, agent.workspaceId, found);
  const issues = [
    ["not in the catalogue", unique.filter((name) => !known.has(name))] as const,
    [
      "not allowed in the agent's workspace",
      found.filter(({ id }) => !allowed.has(id)).map(({ slug }) => slug),
    ] as const,
  ].flatMap(([what, those]) =>
    those.length === 0 ? [] : [{ path: ["enabled"], message: `${what}: ${those.join(", ")}` }],
  );
  if (issues.length > 0) throw invalid(issues);
  return found;
}

/** Those of the given skills that are allowed. Their permissions are locked until the transaction ends. */
export async function lockAllowed(tx: Db, workspaceId: string, list: readonly SkillRow[]): Promise<Set<string>> {
  const ids = writeArray(list.map(({ id }) => id));
  const rows = await tx
    .select({ skillId: workspaceSkills.skillId })
    .from(workspaceSkills)
    .where(and(eq(workspaceSkills.workspaceId, workspaceId), sql`${workspaceSkills.skillId} = any(${ids}::uuid[])`))
    .orderBy(workspaceSkills.skillId)
    .for("share");
  return new Set(rows.map(({ skillId }) => skillId));
}

async function enableExactly(tx: Db, agentId: string, wanted: readonly SkillRow[]): Promise<void> {
  const ids = writeArray(wanted.map(({ id }) => id));
  await tx
    .update(agentSkills)
    .set({ enabled: false, updatedAt: sql`now()` })
    .where(
      and(eq(agentSkills.agentId, agentId), agentSkills.enabled, sql`${agentSkills.skillId} <> all(${ids}::uuid[])`),
    );
  if (wanted.length === 0) return;
  const pinned = sql`${agentSkills.pinnedVersionId}`;
  const moved = sql`not ${agentSkills.enabled} and ${pinned} <> ${excluded(agentSkills.pinnedVersionId)}`;
  await tx
    .insert(agentSkills)
    .values(wanted.map(({ id, currentVersionId }) => ({ agentId, skillId: id, pinnedVersionId: currentVersionId })))
    .onConflictDoUpdate({
      target: [agentSkills.agentId, agentSkills.skillId],
      set: {
        enabled: true,
        previousVersionId: sql`case when ${moved} then ${pinned} else ${agentSkills.previousVersionId} end`,
        pinnedVersionId: sql`case when ${agentSkills.enabled} then ${pinned} else ${excluded(agentSkills.pinnedVersionId)} end`,
        updatedAt: sql`now()`,
      },
    });
}

interface ToolsChanged {
  enabled: string[];
  disabled: string[];
}

/** Runs `change`, updates the agent's tools from skills, and returns the added and removed tools. */
async function withSkillTools(
  tx: Db,
  services: Pick<Services, "plugins">,
  agentId: string,
  change: () => Promise<void>,
): Promise<ToolsChanged> {
  const before = await toolNames(tx, agentId);
  await change();
  await syncSkillTools(tx, services, [agentId]);
  const after = await toolNames(tx, agentId);
  return {
    enabled: [...after].filter((name) => !before.has(name)),
    disabled: [...before].filter((name) => !after.has(name)),
  };
}

async function toolNames(tx: Db, agentId: string): Promise<Set<string>> {
  const rows = await tx
    .selectDistinct({ name: agentTools.name })
    .from(agentTools)
    // A row of source `global` only stores a setting: the tool is off.
    .where(and(eq(agentTools.agentId, agentId), ne(agentTools.source, "global")))
    .orderBy(agentTools.name);
  return new Set(rows.map(({ name }) => name));
}
