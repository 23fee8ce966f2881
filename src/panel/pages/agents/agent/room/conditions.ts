import type { EventCondition } from "../../../../../client/index.ts";
import { pairsIn } from "../../../../data/text.ts";

/** Conditions as text: one line `path = value` for each, with the value as JSON. */
export const linesOf = (conditions: readonly EventCondition[]): string =>
  conditions.map(({ path, equals }) => `${path} = ${JSON.stringify(equals)}`).join("\n");

/**
 * Parses the lines of conditions. A value that is not JSON is a text. Throws for a line without a path or an operator.
 */
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
