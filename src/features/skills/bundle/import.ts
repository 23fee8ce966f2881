import { and, asc, eq, inArray, sql } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import type { ImportNotes } from "../../../core/bundle.ts";
import { writeArray } from "../../../db/arrays.ts";
import type { Db } from "../../../db/client.ts";
import { excluded } from "../../../db/fragments.ts";
import { agentSkills, skills, skillVersions } from "../../../db/schema.ts";
import { type AgentRow, syncSkillTools } from "../../agents/index.ts";
import { describeSkills } from "../agent/describe.ts";
import { lockAllowed } from "../agent/service.ts";
import type { SkillRow } from "../find.ts";
import type { BundledSkill } from "./schema.ts";

/**
 * Gives an agent exactly these skills and the tools that they require, in a transaction of `writeAgent`. Skills that
 * the catalogue or the workspace lacks stay unchanged.
 */
export async function importSkills(
  tx: Db,
  ctx: Ctx,
  agent: AgentRow,
  wanted: readonly BundledSkill[],
  notes: ImportNotes,
): Promise<void> {
  const slugs = wanted.map(({ skillSlug }) => skillSlug);
  await removeOthers(tx, agent.id, slugs);
  const found = await lockNamed(tx, agent, slugs);
  const allowed = await lockAllowed(tx, agent.workspaceId, [...found.values()]);
  const usable = wanted.flatMap((one, index) => {
    const skill = found.get(one.skillSlug);
    if (skill && allowed.has(skill.id)) return [{ ...one, skill, index }];
    const where = skill ? "The agent's workspace does not allow" : "The catalogue has no";
    notes.warn("skill_missing", ["instance", "skills", index], `${where} skill ${one.skillSlug}: it is left out`);
    return [];
  });
  await link(tx, agent.id, await withVersions(tx, usable, notes));
  await syncSkillTools(tx, ctx, [agent.id]);
  await warnOfTools(tx, ctx, agent, wanted, notes);
}

async function removeOthers(tx: Db, agentId: string, slugs: readonly string[]): Promise<void> {
  const named = sql`select ${skills.id} from ${skills} where ${skills.slug} = any(${writeArray(slugs)}::text[])`;
  await tx
    .delete(agentSkills)
    .where(and(eq(agentSkills.agentId, agentId), sql`${agentSkills.skillId} not in (${named})`));
}

async function lockNamed(
  tx: Db,
  { organizationId }: AgentRow,
  slugs: readonly string[],
): Promise<Map<string, SkillRow>> {
  const rows = await tx
    .select()
    .from(skills)
    .where(and(eq(skills.organizationId, organizationId), sql`${skills.slug} = any(${writeArray(slugs)}::text[])`))
    .orderBy(asc(skills.slug))
    .for("key share");
  return new Map(rows.map((row) => [row.slug, row]));
}

interface Usable extends BundledSkill {
  skill: SkillRow;
  index: number;
}

/** Adds the ids of the versions to pin. A version that the catalogue lacks is replaced by the current one. */
async function withVersions(tx: Db, usable: readonly Usable[], notes: ImportNotes) {
  const ids = usable.map(({ skill }) => skill.id);
  const { id, skillId, version } = skillVersions;
  const rows =
    ids.length === 0 ? [] : await tx.select({ id, skillId, version }).from(skillVersions).where(inArray(skillId, ids));
  const known = new Map(rows.map((row) => [`${row.skillId} ${row.version}`, row.id]));
  return usable.map((one) => {
    const { skill, pinnedVersion, index } = one;
    const pinned = known.get(`${skill.id} ${pinnedVersion}`);
    if (pinnedVersion !== null && pinned === undefined) {
      const message = `The skill ${skill.slug} has no version ${pinnedVersion} here: the agent uses its current one`;
      notes.warn("skill_version_missing", ["instance", "skills", index], message);
    }
    return { ...one, versionId: pinned ?? skill.currentVersionId };
  });
}

async function link(tx: Db, agentId: string, list: readonly (Usable & { versionId: string | null })[]): Promise<void> {
  if (list.length === 0) return;
  const pinned = sql`${agentSkills.pinnedVersionId}`;
  const rows = list.map(({ skill, enabled, autoLoad, versionId }) => ({
    agentId,
    skillId: skill.id,
    enabled,
    autoLoad,
    pinnedVersionId: versionId,
  }));
  await tx
    .insert(agentSkills)
    .values(rows)
    .onConflictDoUpdate({
      target: [agentSkills.agentId, agentSkills.skillId],
      set: {
        enabled: excluded(agentSkills.enabled),
        autoLoad: excluded(agentSkills.autoLoad),
        previousVersionId: sql`case when ${pinned} <> ${excluded(agentSkills.pinnedVersionId)} then ${pinned}
          else ${agentSkills.previousVersionId} end`,
        pinnedVersionId: excluded(agentSkills.pinnedVersionId),
        updatedAt: sql`now()`,
      },
    });
}

async function warnOfTools(
  tx: Db,
  ctx: Ctx,
  agent: AgentRow,
  wanted: readonly BundledSkill[],
  notes: ImportNotes,
): Promise<void> {
  if (wanted.length === 0) return;
  for (const { name, enabled, missingTools } of await describeSkills(tx, ctx, agent)) {
    const index = wanted.findIndex(({ skillSlug }) => skillSlug === name);
    if (!enabled || index < 0 || missingTools.length === 0) continue;
    const message = `The skill ${name} requires tools that the agent can't have: ${missingTools.join(", ")}`;
    notes.warn("tool_unusable", ["instance", "skills", index], message);
  }
}
