import { eq, or, sql } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import { requirePermission } from "../../context/membership.ts";
import { write } from "../../context/write.ts";
import type { ImportNotes, ImportWarning, ImportWarningType } from "../../core/bundle.ts";
import { type Changes, changesBetween } from "../../core/changes.ts";
import { EngineError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { type Db, sqlState } from "../../db/client.ts";
import { agents } from "../../db/schema.ts";
import { type AgentRow, importAgent, insertAgent, touchAskers, writeAgent } from "../agents/index.ts";
import { importChannels } from "../channels/index.ts";
import { importHooks, placeHooks } from "../hooks/index.ts";
import { importPrompts } from "../prompts/index.ts";
import { importRoom, importSources } from "../room/index.ts";
import { storedKeys } from "../secrets/index.ts";
import { importSkillEnv, importSkills } from "../skills/index.ts";
import { importTasks } from "../tasks/index.ts";
import { importTools } from "../tools/index.ts";
import { describeAgent } from "./export.ts";
import { type ReadBundle, readBundle } from "./read/read.ts";
import { isBeforeWebSwitch } from "./read/versions.ts";
import { changedParts, freeSlug, importedStem, permissionsFor } from "./rules.ts";
import { BundledInstance, type Imported } from "./schema.ts";

/** Starts jobs that are due, now or at a time. */
export type Wake = (at?: number) => void;

/**
 * Creates an agent from a bundle, as a whole or not at all; under a free slug if its own is taken. Throws 400 for an
 * invalid bundle, 403 for a part that the caller may not change, 404 for the workspace.
 */
export async function importNew(
  ctx: Ctx,
  sent: unknown,
  workspaceId: string | undefined,
  wake: Wake,
): Promise<Imported> {
  const notes = new Notes();
  const bundle = readBundle(sent, notes);
  const id = newId();
  const slug = await underFreeSlug(ctx, bundle.instance.slug, async (found) => {
    const summary: Record<string, unknown> = { version: bundle.version };
    await write(ctx, { action: "agent.import", target: found, agentId: id, summary }, async (tx) => {
      notes.restart();
      const agent = await insertAgent(tx, ctx, id, { slug: found, ...(workspaceId ? { workspaceId } : {}) });
      requireParts(ctx, BundledInstance.parse({ slug: found }), bundle.instance);
      await importParts(tx, ctx, agent, bundle, notes);
    });
  });
  notes.finish(wake);
  return { slug, instanceId: slug, warnings: notes.warnings };
}

/**
 * Replaces the configuration of an agent by a bundle's, as a whole or not at all. Its slug, workspace, stored secrets,
 * conversations and memories stay. Throws the 404 of the agent, and the errors of `importNew`.
 */
export async function importOver(ctx: Ctx, slug: string, sent: unknown, wake: Wake): Promise<Imported> {
  const notes = new Notes();
  const bundle = readBundle(sent, notes);
  const changes: Changes = {};
  const summary: Record<string, unknown> = { version: bundle.version };
  const change = { action: "agent.import", summary, changes, unchanged: () => false, concernsAskers: true };
  await writeAgent(ctx, slug, change, async (tx, agent) => {
    notes.restart();
    const before = await describeAgent(tx, ctx, agent);
    requireParts(ctx, before, bundle.instance);
    const imported = await importParts(tx, ctx, agent, bundle, notes);
    await touchAskers(tx, imported.agent);
    const after = await describeAgent(tx, ctx, imported.agent);
    // Of fields that may contain a secret, such as hooks' arguments, the log gets only the names.
    Object.assign(summary, { replaced: changedParts(before, after), approvalRemoved: imported.approvalRemoved });
    Object.assign(changes, changesBetween(ownFields(before), ownFields(after)));
  });
  notes.finish(wake);
  return { slug, instanceId: slug, warnings: notes.warnings };
}

/** The agent's own fields, without the parts. */
function ownFields(instance: BundledInstance) {
  const { icon, prompts, skills, manualTools, toolsNeedingApproval, secrets, ...some } = instance;
  const { channels, skillEnv, hooks, room, eventSources, scheduledTasks, ...own } = some;
  return { ...own, hasIcon: icon !== null };
}

/** Throws the 403 for a part that the caller may not change by the part's own route. */
function requireParts({ membership }: Ctx, before: BundledInstance, wanted: BundledInstance): void {
  const placed = { ...wanted, hooks: placeHooks(wanted.hooks) };
  for (const permission of permissionsFor(changedParts(before, placed))) requirePermission(membership, permission);
}

/** Imports the parts in this order, since skills add tools, and a channel must know whether a key is required. */
async function importParts(
  tx: Db,
  ctx: Ctx,
  before: AgentRow,
  { version, instance, channelPath }: ReadBundle,
  notes: Notes,
): Promise<{ agent: AgentRow; approvalRemoved: string[] }> {
  const agent = await importAgent(tx, ctx, before, instance);
  await importPrompts(tx, ctx, agent.id, instance.prompts);
  await importSkills(tx, ctx, agent, instance.skills, notes);
  await importSkillEnv(tx, ctx, agent, instance.skillEnv, notes);
  const approvalRemoved = await importTools(tx, ctx, agent, instance, notes);
  await importChannels(tx, ctx, agent, instance.channels, { notes, channelPath, opensWeb: isBeforeWebSwitch(version) });
  await importHooks(tx, ctx, agent, instance.hooks, notes);
  await importRoom(tx, ctx, agent, instance.room);
  await importSources(tx, ctx, agent, instance.eventSources, notes);
  await importTasks(tx, ctx, agent, instance.scheduledTasks, notes);
  await noteSecrets(tx, agent, instance.secrets, notes);
  return { agent, approvalRemoved };
}

async function noteSecrets(tx: Db, { id }: AgentRow, wanted: BundledInstance["secrets"], notes: Notes): Promise<void> {
  const stored = await storedKeys(tx, id);
  for (const [index, { key, configured }] of wanted.entries()) {
    if (!configured || stored.has(key)) continue;
    notes.warn("secret_missing", ["instance", "secrets", index], `The agent has no secret ${key}: set it`);
  }
}

/** The most imports of one slug at the same time: in each round of attempts one of them succeeds. */
const mostAttempts = 50;

/** Creates an agent under the wanted slug or a free one. Throws 409 when other imports keep taking the free slugs. */
async function underFreeSlug(ctx: Ctx, wanted: string, make: (slug: string) => Promise<void>): Promise<string> {
  for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
    const slug = await findFreeSlug(ctx.db, wanted);
    try {
      await make(slug);
      return slug;
    } catch (error) {
      if (sqlState(error) !== "23505") throw error;
    }
  }
  throw new EngineError("conflict", `Others take slugs like ${wanted} right now: import again`);
}

async function findFreeSlug(db: Db, wanted: string): Promise<string> {
  const taken = await db
    .select({ slug: agents.slug })
    .from(agents)
    .where(or(eq(agents.slug, wanted), sql`starts_with(${agents.slug}, ${importedStem(wanted)})`));
  return freeSlug(wanted, new Set(taken.map(({ slug }) => slug)));
}

/** The warnings of an import. */
class Notes implements ImportNotes {
  readonly warnings: ImportWarning[] = [];
  #ofReading = 0;
  #isRead = false;
  #dueAt: number[] = [];

  warn(type: ImportWarningType, path: readonly (string | number)[], message: string): void {
    this.warnings.push({ type, message, path: path.join(".") });
  }

  due(at: Date | null): void {
    if (at) this.#dueAt.push(at.getTime());
  }

  /** Called when the transaction begins, perhaps repeatedly: deletes the notes of an earlier attempt. */
  restart(): void {
    if (!this.#isRead) this.#ofReading = this.warnings.length;
    this.#isRead = true;
    this.warnings.length = this.#ofReading;
    this.#dueAt = [];
  }

  /** Called after the commit: starts the jobs that the import made due. */
  finish(wake: (at?: number) => void): void {
    wake();
    for (const at of this.#dueAt) wake(at);
  }
}
