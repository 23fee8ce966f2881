import { and, asc, eq, type SQL } from "drizzle-orm";
import { notFound } from "../../../core/errors.ts";
import type { Db } from "../../../db/client.ts";
import { hasId } from "../../../db/fragments.ts";
import { eventDefinitions, eventSources } from "../../../db/schema.ts";

export type SourceRow = typeof eventSources.$inferSelect;
export type DefinitionRow = typeof eventDefinitions.$inferSelect;

/** A source of the agent. Throws the 404. */
export async function findSource(db: Db, agent: { id: string }, id: string): Promise<SourceRow> {
  const [row] = await db
    .select()
    .from(eventSources)
    .where(and(hasId(eventSources.id, id), eq(eventSources.agentId, agent.id)));
  if (!row) throw notFound("Event source");
  return row;
}

/** A definition of the source. Throws the 404. */
export async function findDefinition(db: Db, source: { id: string }, id: string): Promise<DefinitionRow> {
  const [row] = await db
    .select()
    .from(eventDefinitions)
    .where(and(hasId(eventDefinitions.id, id), eq(eventDefinitions.sourceId, source.id)));
  if (!row) throw notFound("Event definition");
  return row;
}

/** The definitions that meet a condition, in the matcher's order. */
export function selectDefinitions(db: Db, condition: SQL | undefined): Promise<DefinitionRow[]> {
  return db
    .select()
    .from(eventDefinitions)
    .where(condition)
    .orderBy(asc(eventDefinitions.priority), asc(eventDefinitions.createdAt), asc(eventDefinitions.id));
}
