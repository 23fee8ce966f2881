import type { JsonValue } from "../../../core/json.ts";

/** The limit of a path, in characters. */
export const longestPath = 512;

/** Why a text is no path; null when it is one. Brackets are part of a name, since forms have fields such as `data[id]`. */
export function pathProblem(path: string): string | null {
  return path.split(".").every((part) => part !== "" && part.trim() === part)
    ? null
    : "must be names and indexes with dots between them, such as issue.labels.0.name";
}

/** The value at a path such as `issue.labels.0.name`; undefined when there is none. Only what the payload itself holds. */
export function valueAt(payload: JsonValue, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = payload;
  for (const part of path.split(".")) value = memberOf(value, part);
  return value;
}

function memberOf(value: JsonValue | undefined, part: string): JsonValue | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) return /^(?:0|[1-9]\d{0,5})$/.test(part) ? value[Number(part)] : undefined;
  return Object.hasOwn(value, part) ? value[part] : undefined;
}
