import { and, eq, sql } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import type { ImportNotes } from "../../../core/bundle.ts";
import { writeArray } from "../../../db/arrays.ts";
import type { Db } from "../../../db/client.ts";
import { skillEnv, skills } from "../../../db/schema.ts";
import type { AgentRow } from "../../agents/index.ts";
import { findSkillOf, storeEnv } from "../env/service.ts";
import { exportSkillEnv } from "./export.ts";
import type { BundledEnv } from "./schema.ts";

/**
 * Gives an agent exactly these non-sensitive variables, in a transaction of `writeAgent` and after its skills.
 * Sensitive ones stay, since bundles do not contain their values.
 */
export async function importSkillEnv(
  tx: Db,
  ctx: Ctx,
  agent: AgentRow,
  wanted: readonly BundledEnv[],
  notes: ImportNotes,
): Promise<void> {
  const stored = await exportSkillEnv(tx, ctx.cipher, agent);
  const keysOf = (list: readonly BundledEnv[], slug: string, sensitive: boolean) =>
    list
      .filter(({ skillSlug }) => skillSlug === slug)
      .flatMap(({ env }) => env.flatMap((entry) => (entry.sensitive === sensitive ? [entry.key] : [])));
  for (const { skillSlug } of stored) {
    const kept = new Set(keysOf(wanted, skillSlug, false));
    const gone = keysOf(stored, skillSlug, false).filter((key) => !kept.has(key));
    if (gone.length > 0) await removeKeys(tx, agent, skillSlug, gone);
  }
  const skillSlugs = await inCatalogue(tx, agent, wanted);
  for (const [index, { skillSlug, env }] of wanted.entries()) {
    const path = ["instance", "skillEnv", index];
    if (!skillSlugs.has(skillSlug)) {
      const message = `The catalogue has no skill ${skillSlug}: its variables are left out`;
      notes.warn("skill_missing", path, message);
      continue;
    }
    const storedSecrets = new Set(keysOf(stored, skillSlug, true));
    const { declared } = await findSkillOf(tx, agent, skillSlug);
    // A variable that the skill declares sensitive is secret, even if the bundle says otherwise.
    const declaredSecrets = [...declared.values()].flatMap((one) => (one.sensitive ? [one.name] : []));
    const hidden = new Set([...storedSecrets, ...declaredSecrets]);
    warnOfSecrets(env, { stored: storedSecrets, hidden }, skillSlug, [...path, "env"], notes);
    const open = env.flatMap(({ key, sensitive, value }) =>
      sensitive || hidden.has(key) || value === undefined ? [] : [{ key, value, sensitive }],
    );
    if (open.length > 0) await storeEnv(tx, ctx, agent, skillSlug, open, [...path, "env"]);
  }
}

function warnOfSecrets(
  env: BundledEnv["env"],
  { stored, hidden }: { stored: ReadonlySet<string>; hidden: ReadonlySet<string> },
  skillSlug: string,
  path: readonly (string | number)[],
  notes: ImportNotes,
): void {
  for (const [index, { key, sensitive, value, configured }] of env.entries()) {
    if (!(sensitive || hidden.has(key))) continue;
    if (value !== undefined) {
      const message = `${key} is sensitive, and no import stores such a value: set it among the skill's variables`;
      notes.warn("credential_ignored", [...path, index, "value"], message);
    }
    if (stored.has(key) || !(configured || value !== undefined)) continue;
    notes.warn("secret_missing", [...path, index], `The skill ${skillSlug} has no value for ${key}: set it`);
  }
}

async function removeKeys(tx: Db, agent: AgentRow, skillSlug: string, keys: readonly string[]): Promise<void> {
  const ofSkill = sql`${skillEnv.skillId} in (select ${skills.id} from ${skills}
    where ${skills.organizationId} = ${agent.organizationId} and ${skills.slug} = ${skillSlug})`;
  const named = sql`${skillEnv.key} = any(${writeArray(keys)}::text[])`;
  await tx.delete(skillEnv).where(and(eq(skillEnv.agentId, agent.id), ofSkill, named));
}

async function inCatalogue(tx: Db, { organizationId }: AgentRow, list: readonly BundledEnv[]): Promise<Set<string>> {
  const slugs = writeArray(list.map(({ skillSlug }) => skillSlug));
  const rows = await tx
    .select({ slug: skills.slug })
    .from(skills)
    .where(and(eq(skills.organizationId, organizationId), sql`${skills.slug} = any(${slugs}::text[])`));
  return new Set(rows.map(({ slug }) => slug));
}
