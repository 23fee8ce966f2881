import { eq, sql } from "drizzle-orm";
import { authorOf, type Ctx } from "../../../context/ctx.ts";
import { type Changes, changesBetween } from "../../../core/changes.ts";
import { EngineError } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import { eventDefinitions } from "../../../db/schema.ts";
import { findAgent, writeAgent } from "../../agents/index.ts";
import { changedPlace } from "../../inbox/index.ts";
import type { EventDefinition, EventDefinitionChanges, NewEventDefinition } from "./definition-schema.ts";
import { type DefinitionRow, findDefinition, findSource, selectDefinitions } from "./rows.ts";
import { mostDefinitions, nextPriority } from "./rules.ts";
import { showDefinition } from "./shown.ts";

/** The definitions of a source, in the matcher's order. Throws the 404 of agent and source. */
export async function listDefinitions(ctx: Ctx, slug: string, sourceId: string): Promise<EventDefinition[]> {
  const source = await findSource(ctx.db, await findAgent(ctx, slug), sourceId);
  const rows = await selectDefinitions(ctx.db, eq(eventDefinitions.sourceId, source.id));
  return rows.map(showDefinition);
}

/** Creates a definition. Throws the 404 of agent and source, and 409 for too many definitions. */
export async function createDefinition(
  ctx: Ctx,
  slug: string,
  sourceId: string,
  { description = "", matchingPrompt = description, ...input }: NewEventDefinition,
): Promise<EventDefinition> {
  const id = newId();
  const { name, action } = input;
  const summary = { sourceId, definitionId: id, name, action };
  return writeAgent(ctx, slug, { ...change("create"), summary }, async (tx, agent) => {
    const source = await findSource(tx, agent, sourceId);
    const others = await selectDefinitions(tx, eq(eventDefinitions.sourceId, source.id));
    if (others.length >= mostDefinitions) {
      throw new EngineError("conflict", `An event source has at most ${mostDefinitions} definitions: delete one first`);
    }
    const priority = input.priority ?? nextPriority(others.map((other) => other.priority));
    const author = authorOf(ctx);
    const owner = { sourceId: source.id, agentId: agent.id, createdBy: author, updatedBy: author };
    const row = { ...input, ...owner, id, matchingPrompt, priority };
    return one(await tx.insert(eventDefinitions).values(row).returning());
  });
}

/**
 * Changes the given fields; `conditions` are replaced as a whole. Throws the 404 of agent, source and definition, and
 * the 400 for an invalid destination.
 */
export async function updateDefinition(
  ctx: Ctx,
  slug: string,
  { id, definitionId }: { id: string; definitionId: string },
  { description, ...changes }: EventDefinitionChanges,
): Promise<EventDefinition> {
  const changed: Changes = {};
  const summary = { sourceId: id, definitionId };
  return writeAgent(ctx, slug, { ...change("update"), summary, changes: changed }, async (tx, agent) => {
    const stored = await findDefinition(tx, await findSource(tx, agent, id), definitionId);
    const place = changedPlace(changes, stored);
    const matchingPrompt = changes.matchingPrompt ?? description;
    const columns = { ...changes, ...place, matchingPrompt, updatedBy: authorOf(ctx), updatedAt: sql`now()` };
    const rows = await tx.update(eventDefinitions).set(columns).where(eq(eventDefinitions.id, stored.id)).returning();
    const updated = one(rows);
    Object.assign(changed, changesBetween(configurationOf(showDefinition(stored)), configurationOf(updated)));
    return updated;
  });
}

const configurationOf = ({ createdAt, updatedAt, ...fields }: EventDefinition) => fields;

/** Deletes a definition. Throws the 404 of agent, source and definition. */
export async function deleteDefinition(
  ctx: Ctx,
  slug: string,
  { id, definitionId }: { id: string; definitionId: string },
): Promise<void> {
  const summary = { sourceId: id, definitionId };
  await writeAgent(ctx, slug, { ...change("delete"), summary }, async (tx, agent) => {
    const stored = await findDefinition(tx, await findSource(tx, agent, id), definitionId);
    await tx.delete(eventDefinitions).where(eq(eventDefinitions.id, stored.id));
  });
}

/** Turns do not use definitions, so agents are not loaded again. */
const change = (verb: string) => ({ action: `agent.event-definition.${verb}`, agentUnchanged: true });

function one([row]: DefinitionRow[]): EventDefinition {
  if (!row) throw new Error("The definition is gone");
  return showDefinition(row);
}
