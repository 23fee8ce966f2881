import { and, eq, getTableColumns, notInArray, sql } from "drizzle-orm";
import { authorOf, type Ctx } from "../../../context/ctx.ts";
import { newId } from "../../../core/ids.ts";
import { asJson, sameJson } from "../../../core/json.ts";
import { takeNamed } from "../../../core/text/names.ts";
import type { Db } from "../../../db/client.ts";
import { excluded } from "../../../db/fragments.ts";
import { eventDefinitions } from "../../../db/schema.ts";
import type { AgentRow } from "../../agents/index.ts";
import type { NewEventDefinition } from "./definition-schema.ts";
import { type DefinitionRow, selectDefinitions } from "./rows.ts";
import { nextPriority } from "./rules.ts";
import { bundledDefinition } from "./shown.ts";

interface OfSource {
  sourceId: string;
  definitions: readonly NewEventDefinition[];
}

/**
 * Gives an agent's sources exactly these definitions. A stored one of the same name is changed instead of replaced, so
 * that backlog entries keep it.
 */
export async function importDefinitions(tx: Db, ctx: Ctx, agent: AgentRow, lists: readonly OfSource[]): Promise<void> {
  const ofAgent = eq(eventDefinitions.agentId, agent.id);
  const bySource = Map.groupBy(await selectDefinitions(tx, ofAgent), ({ sourceId }) => sourceId);
  const planned = lists.flatMap((list) => plan(list, bySource.get(list.sourceId) ?? [], ctx.clock.now()));
  const kept = planned.flatMap(({ row }) => row?.id ?? []);
  if (bySource.size > 0) await tx.delete(eventDefinitions).where(and(ofAgent, notInArray(eventDefinitions.id, kept)));
  const author = authorOf(ctx);
  const owned = { agentId: agent.id, createdBy: author, updatedBy: author };
  const rows = planned.flatMap(({ row, changed, columns }) =>
    changed ? [{ ...columns, ...owned, id: row?.id ?? newId() }] : [],
  );
  if (rows.length === 0) return;
  const { id, agentId, createdBy, updatedAt, ...columns } = getTableColumns(eventDefinitions);
  const set = Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, excluded(column)]));
  await tx
    .insert(eventDefinitions)
    .values(rows)
    .onConflictDoUpdate({ target: id, set: { ...set, updatedAt: sql`now()` } });
}

/** The rows of one source, in the matcher's order. */
function plan({ sourceId, definitions }: OfSource, stored: DefinitionRow[], now: number) {
  const wanted = placeDefinitions(definitions).map((definition) => ({
    definition,
    row: takeNamed(stored, definition.name),
  }));
  // Definitions of equal priority are ordered by age.
  const ages = wanted.map(({ row }, index) => row?.createdAt ?? new Date(now + index));
  const fits = wanted.every(({ definition: { priority } }, index) => {
    const before = wanted[index - 1]?.definition;
    return before?.priority !== priority || (ages[index - 1] ?? 0) < (ages[index] ?? 0);
  });
  return wanted.map(({ definition, row }, index) => {
    const createdAt = fits ? (ages[index] ?? new Date(now)) : new Date(now + index);
    const changed = !row || !fits || !sameJson(asJson(bundledDefinition(row)), asJson(definition));
    return { row, changed, columns: { ...definition, sourceId, createdAt } };
  });
}

/** The definitions of a source in stored form, by priority. One without a priority comes after those before it. */
export function placeDefinitions(definitions: readonly NewEventDefinition[]) {
  const priorities: number[] = [];
  const placed = definitions.map(({ description = "", matchingPrompt = description, ...definition }) => {
    const priority = definition.priority ?? nextPriority(priorities);
    priorities.push(priority);
    return { ...definition, matchingPrompt, priority };
  });
  return placed.toSorted((a, b) => a.priority - b.priority);
}
