import { asc, eq } from "drizzle-orm";
import { sortByName } from "../../../core/text/names.ts";
import type { Db } from "../../../db/client.ts";
import { eventDefinitions, eventSources } from "../../../db/schema.ts";
import type { NewEventDefinition } from "./definition-schema.ts";
import { type DefinitionRow, type SourceRow, selectDefinitions } from "./rows.ts";
import type { BundledSource } from "./schema.ts";
import { showDefinition } from "./shown.ts";

/** The sources of an agent by name, with their definitions in order, as a bundle holds them: without credentials. */
export async function exportSources(db: Db, agentId: string): Promise<BundledSource[]> {
  const rows = await db
    .select()
    .from(eventSources)
    .where(eq(eventSources.agentId, agentId))
    .orderBy(asc(eventSources.createdAt), asc(eventSources.id));
  const definitions = Map.groupBy(
    await selectDefinitions(db, eq(eventDefinitions.agentId, agentId)),
    ({ sourceId }) => sourceId,
  );
  return sortByName(rows).map((row) => toBundled(row, definitions.get(row.id) ?? []));
}

function toBundled(
  { name, sourceType, config, enabled, hasAuthKey }: SourceRow,
  definitions: readonly DefinitionRow[],
): BundledSource {
  return {
    ...{ name, sourceType, config, enabled, authKeyConfigured: hasAuthKey },
    definitions: definitions.map(bundledDefinition),
  };
}

/** A definition as a bundle holds it. */
export function bundledDefinition(row: DefinitionRow): NewEventDefinition {
  const { id, createdAt, updatedAt, ...definition } = showDefinition(row);
  return definition;
}
