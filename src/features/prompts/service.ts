import { and, eq, sql } from "drizzle-orm";
import { authorOf, type Ctx } from "../../context/ctx.ts";
import { type Changes, changesBetween } from "../../core/changes.ts";
import { writeArray } from "../../db/arrays.ts";
import type { Db } from "../../db/client.ts";
import { excluded } from "../../db/fragments.ts";
import { agentPrompts } from "../../db/schema.ts";
import { findAgent, writeAgent } from "../agents/index.ts";
import { loadSkills, skillsList } from "../skills/index.ts";
import { assemblePrompt } from "./assemble.ts";
import { datetimeIn } from "./datetime.ts";
import type { BundledPrompts, PromptChange, Prompts } from "./schema.ts";
import { describePrompts, isDefault, isPromptKey, promptKeys, type StoredPrompts } from "./sections.ts";

/** An agent's stored sections; sections with their default are missing. */
export async function loadPrompts(db: Db, agentId: string): Promise<StoredPrompts> {
  const rows = await db
    .select({ key: agentPrompts.key, content: agentPrompts.content })
    .from(agentPrompts)
    .where(eq(agentPrompts.agentId, agentId));
  return new Map(rows.flatMap(({ key, content }) => (isPromptKey(key) ? [[key, content] as const] : [])));
}

/** An agent's stored sections, in order, for a bundle. */
export async function exportPrompts(db: Db, agentId: string): Promise<BundledPrompts> {
  const stored = await loadPrompts(db, agentId);
  return promptKeys.flatMap((key) => {
    const content = stored.get(key);
    return content === undefined ? [] : [{ key, content }];
  });
}

/** All eight sections, with the agent's revision. Throws the 404 of the agent. */
export async function listPrompts(ctx: Ctx, slug: string): Promise<Prompts> {
  // A change in between pairs an older revision with newer sections. At worst, `If-Match` then refuses without need.
  const { id, revision } = await findAgent(ctx, slug);
  return { prompts: describePrompts(await loadPrompts(ctx.db, id)), revision };
}

/**
 * Stores the given sections, each at most once, and returns all eight. A section sent with its default text keeps the
 * default. Throws the 404 of the agent, and the 412 when `ifMatch` names an older revision.
 */
export async function savePrompts(
  ctx: Ctx,
  slug: string,
  changes: readonly PromptChange[],
  ifMatch?: string,
): Promise<Prompts> {
  const changed: Changes = {};
  const change = { action: "agent.prompt.update", changes: changed, ifMatch };
  return writeAgent(ctx, slug, change, async (tx, { id, revision }) => {
    const before = describePrompts(await loadPrompts(tx, id));
    await applyChanges(tx, ctx, id, changes);
    const after = describePrompts(await loadPrompts(tx, id));
    Object.assign(changed, changesBetween(byKey(before), byKey(after)));
    // `write` raises the revision by one.
    return { prompts: after, revision: revision + 1 };
  });
}

/** Gives an agent exactly these sections, in a transaction of `writeAgent`; the others get their default. */
export async function importPrompts(tx: Db, ctx: Ctx, agentId: string, wanted: BundledPrompts): Promise<void> {
  const contents = new Map(wanted.map(({ key, content }) => [key, content]));
  const changes = promptKeys.map((key) => ({ key, content: contents.get(key) ?? null }));
  await applyChanges(tx, ctx, agentId, changes);
}

async function applyChanges(tx: Db, ctx: Ctx, agentId: string, changes: readonly PromptChange[]): Promise<void> {
  await removeSections(tx, agentId, changes.filter(isDefault));
  await storeSections(tx, ctx, agentId, changes);
}

const byKey = (sections: Prompts["prompts"]) => Object.fromEntries(sections.map(({ key, content }) => [key, content]));

async function removeSections(tx: Db, agentId: string, changes: readonly PromptChange[]): Promise<void> {
  const keys = writeArray(changes.map(({ key }) => key));
  await tx
    .delete(agentPrompts)
    .where(and(eq(agentPrompts.agentId, agentId), sql`${agentPrompts.key} = any(${keys}::text[])`));
}

async function storeSections(tx: Db, ctx: Ctx, agentId: string, changes: readonly PromptChange[]): Promise<void> {
  const author = authorOf(ctx);
  const rows = changes.flatMap((change) => {
    const { key, content } = change;
    return content === null || isDefault(change)
      ? []
      : [{ agentId, key, content, createdBy: author, updatedBy: author }];
  });
  if (rows.length === 0) return;
  await tx
    .insert(agentPrompts)
    .values(rows)
    .onConflictDoUpdate({
      target: [agentPrompts.agentId, agentPrompts.key],
      set: {
        content: excluded(agentPrompts.content),
        updatedBy: excluded(agentPrompts.updatedBy),
        updatedAt: sql`now()`,
      },
    });
}

/**
 * The system prompt of the caller's first message, with these sections instead of the stored ones. Throws the 404 of
 * the agent.
 */
export async function previewPrompt(ctx: Ctx, slug: string, changes: readonly PromptChange[]): Promise<string> {
  const { id, workspaceId, name, description, timezone } = await findAgent(ctx, slug);
  const stored = await loadPrompts(ctx.db, id);
  const sections = new Map(stored);
  for (const { key, content } of changes) {
    if (content === null) sections.delete(key);
    else sections.set(key, content);
  }
  const { served } = await loadSkills(ctx.db, ctx, { agentId: id, workspaceId });
  return assemblePrompt(sections, {
    name,
    description,
    timezone,
    skillsList: skillsList(served),
    datetime: datetimeIn(timezone)(ctx.clock.now()),
    userName: ctx.actor.name ?? "",
    memories: "",
    state: "",
  });
}
