import type { JsonValue } from "../../../core/json.ts";

/** The limit of a path, in characters. */
export const longestPath = 512;

/** Matches a name at the beginning or after a dot, or a key as JSON in brackets: `labels["app.kubernetes.io/name"]`. */
const step = /(?:^|(?<!^)\.)((?:(?!\[")[^.])+)|\[("(?:[^"\\]|\\.)*")\]/gy;

/**
 * Why a text is no path; null for a path. All other brackets belong to a name, since forms have fields such as
 * `data[id]`.
 */
export function pathProblem(path: string): string | null {
  const names = namesOf(path);
  return names === null || names.some((name) => name === "" || name.trim() !== name)
    ? 'must be names and indexes with dots between them, such as issue.labels.0.name or labels["app.kubernetes.io/name"]'
    : null;
}

/** The value at a path such as `issue.labels.0.name`; undefined without one. Ignores inherited properties. */
export function valueAt(payload: JsonValue, path: string): JsonValue | undefined {
  return namesOf(path)?.reduce<JsonValue | undefined>(memberOf, payload);
}

/** The names of a path in order; null for an invalid one. */
function namesOf(path: string): string[] | null {
  const found = [...path.matchAll(step)];
  if (found.length === 0 || found.reduce((sum, [text]) => sum + text.length, 0) < path.length) return null;
  const names = found.map(([, name, quoted]) => (quoted === undefined ? (name ?? "") : unquoted(quoted)));
  return names.every((name) => name !== null) ? names : null;
}

function unquoted(json: string): string | null {
  try {
    return JSON.parse(json) as string;
  } catch {
    return null;
  }
}

function memberOf(value: JsonValue | undefined, part: string): JsonValue | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) return /^(?:0|[1-9]\d{0,5})$/.test(part) ? value[Number(part)] : undefined;
  return Object.hasOwn(value, part) ? value[part] : undefined;
}
