import type { EventCondition } from "../../../../../client/index.ts";
import { pairsIn } from "../../../../data/lists.ts";

/** Conditions as people write them: one a line, `path = value` with the value in JSON. */
export const linesOf = (conditions: readonly EventCondition[]): string =>
  conditions.map(({ path, equals }) => `${path} = ${JSON.stringify(equals)}`).join("\n");

/** The conditions of such lines. A value that is no JSON is a text. Throws for a line without a path or without a sign. */
export const conditionsIn = (text: string): EventCondition[] =>
  pairsIn(text, 'path = "value"').map(([path, value]) => ({ path, equals: valueIn(value) }));

function valueIn(text: string): EventCondition["equals"] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? text : (value as EventCondition["equals"]);
  } catch {
    return text;
  }
}
