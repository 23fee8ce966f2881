import { and, eq, or, sql } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import { type Changes, changesBetween } from "../../../core/changes.ts";
import { EngineError, notFound } from "../../../core/errors.ts";
import type { Db } from "../../../db/client.ts";
import { agentSkills, skills, skillVersions } from "../../../db/schema.ts";
import { invalid } from "../../../http/errors.ts";
import { type AgentRow, syncSkillTools, writeAgent } from "../../agents/index.ts";
import { type ToolOffer, unusableTools } from "../../tools/index.ts";
import { isSkillSlug } from "../rules.ts";
import { describeSkills } from "./describe.ts";
import type { AgentSkill } from "./schema.ts";

type Link = typeof agentSkills.$inferSelect;

interface Enabled {
  link: Link;
  currentVersionId: string | null;
}

/**
 * Pins the current version. Throws 404 for agent and skill, 400 unless the skill is enabled and the organization has
 * the tools that the version requires.
 */
export function upgradeSkill(ctx: Ctx, slug: string, skillSlug: string): Promise<AgentSkill> {
  return changePin(
    ctx,
    [slug, skillSlug],
    "agent.skill.upgrade",
    async (_tx, { currentVersionId }) => currentVersionId,
  );
}

/**
 * Pins the version with this id or number, or else the one pinned before. Throws as `upgradeSkill` does, and 400 for an
 * unknown version.
 */
export function rollBackSkill(ctx: Ctx, slug: string, skillSlug: string, version?: string): Promise<AgentSkill> {
  return changePin(ctx, [slug, skillSlug], "agent.skill.rollback", async (tx, { link }) => {
    if (version !== undefined) return findVersion(tx, link.skillId, version);
    if (link.previousVersionId !== null) return link.previousVersionId;
    throw invalid([{ path: ["versionId"], message: "no other version was pinned before: name one by id or number" }]);
  });
}

/**
 * Sets `autoLoad`, or inverts it without `wanted`, and returns the new value. Throws 404 for agent and skill, 400
 * unless the skill is enabled.
 */
export function setAutoLoad(ctx: Ctx, slug: string, skillSlug: string, wanted?: boolean): Promise<boolean> {
  const changed: Changes = {};
  const change = { action: "agent.skill.auto-load", summary: { skill: skillSlug }, changes: changed };
  return writeAgent(ctx, slug, change, async (tx, agent) => {
    const { link } = await enabledSkill(tx, agent, skillSlug);
    const autoLoad = wanted ?? !link.autoLoad;
    Object.assign(changed, changesBetween({ autoLoad: link.autoLoad }, { autoLoad }));
    await tx.update(agentSkills).set({ autoLoad, updatedAt: sql`now()` }).where(isLink(link));
    return autoLoad;
  });
}

function changePin(
  ctx: Ctx,
  [slug, skillSlug]: [string, string],
  action: string,
  choose: (tx: Db, enabled: Enabled) => Promise<string | null>,
): Promise<AgentSkill> {
  const changed: Changes = {};
  return writeAgent(ctx, slug, { action, summary: { skill: skillSlug }, changes: changed }, async (tx, agent) => {
    const enabled = await enabledSkill(tx, agent, skillSlug);
    const before = await describeSkill(tx, ctx, agent, skillSlug);
    const { link } = enabled;
    const pinnedVersionId = await choose(tx, enabled);
    if (pinnedVersionId !== link.pinnedVersionId) {
      await requireToolsOf(tx, ctx, agent, pinnedVersionId);
      const pin = { pinnedVersionId, previousVersionId: link.pinnedVersionId, updatedAt: sql`now()` };
      await tx.update(agentSkills).set(pin).where(isLink(link));
      await syncSkillTools(tx, ctx, [agent.id]);
    }
    const skill = await describeSkill(tx, ctx, agent, skillSlug);
    Object.assign(changed, changesBetween({ version: before.pinnedVersion }, { version: skill.pinnedVersion }));
    return skill;
  });
}

async function describeSkill(tx: Db, ctx: Ctx, agent: AgentRow, skillSlug: string): Promise<AgentSkill> {
  const skill = (await describeSkills(tx, ctx, agent)).find(({ name }) => name === skillSlug);
  if (!skill) throw notFound("Skill");
  return skill;
}

/** Throws the 400 that lists those required tools of the version that the organization no longer has. */
async function requireToolsOf(
  tx: Db,
  offer: ToolOffer,
  { organizationId }: AgentRow,
  versionId: string | null,
): Promise<void> {
  if (versionId === null) return;
  const { version, requiredTools } = skillVersions;
  const [row] = await tx.select({ version, requiredTools }).from(skillVersions).where(eq(skillVersions.id, versionId));
  const unusable = await unusableTools(tx, offer, { organizationId }, row?.requiredTools ?? []);
  if (unusable.length === 0) return;
  throw new EngineError(
    "bad-request",
    `Version ${row?.version} requires tools that this organization does not have: ${unusable.join(", ")}`,
  );
}

const isLink = ({ agentId, skillId }: Link) => and(eq(agentSkills.agentId, agentId), eq(agentSkills.skillId, skillId));

async function enabledSkill(tx: Db, agent: AgentRow, skillSlug: string): Promise<Enabled> {
  const ofAgent = and(eq(agentSkills.skillId, skills.id), eq(agentSkills.agentId, agent.id));
  const [row] = isSkillSlug(skillSlug)
    ? await tx
        .select({ link: agentSkills, currentVersionId: skills.currentVersionId })
        .from(skills)
        .leftJoin(agentSkills, ofAgent)
        .where(and(eq(skills.organizationId, agent.organizationId), eq(skills.slug, skillSlug)))
    : [];
  if (!row) throw notFound("Skill");
  const { link, currentVersionId } = row;
  if (!link?.enabled) throw new EngineError("bad-request", `The agent has ${skillSlug} not enabled: enable it first`);
  return { link, currentVersionId };
}

async function findVersion(tx: Db, skillId: string, idOrNumber: string): Promise<string> {
  const named = or(sql`${skillVersions.id}::text = ${idOrNumber.toLowerCase()}`, eq(skillVersions.version, idOrNumber));
  const [row] = await tx
    .select({ id: skillVersions.id })
    .from(skillVersions)
    .where(and(eq(skillVersions.skillId, skillId), named));
  if (!row) throw invalid([{ path: ["versionId"], message: "the skill has no version with this id or number" }]);
  return row.id;
}
