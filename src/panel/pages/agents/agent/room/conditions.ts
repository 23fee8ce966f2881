import type { EventCondition } from "../../../../../client/index.ts";

/** Conditions as people write them: one a line, `path = value` with the value in JSON. */
export const linesOf = (conditions: readonly EventCondition[]): string =>
  conditions.map(({ path, equals }) => `${path} = ${JSON.stringify(equals)}`).join("\n");

/** The conditions of such lines. A value that is no JSON is a text. Throws for a line without a path or without a sign. */
export function conditionsIn(text: string): EventCondition[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((line) => {
      const [, path, value] = /^([^=]+?)\s*=\s*(.+)$/.exec(line) ?? [];
      if (path === undefined || value === undefined) throw new Error(`“${line}” should be as: path = "value"`);
      return { path, equals: valueIn(value) };
    });
}

function valueIn(text: string): EventCondition["equals"] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? text : (value as EventCondition["equals"]);
  } catch {
    return text;
  }
}
