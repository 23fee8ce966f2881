import { isObject, type JsonValue, sameJson } from "./json.ts";

/** The changes of an update, by field, for the audit log. */
export type Changes = Record<string, { from: unknown; to: unknown }>;

/** The most characters of a long text in the audit log. */
const longest = 500;
/** How many characters before the first difference of long texts are shown. */
const lead = 40;

/**
 * The fields of `after` that differ from `before`. Texts are cut to where they first differ, so that the log does not
 * store whole prompts twice.
 */
export function changesBetween(before: object, after: object): Changes {
  const earlier = new Map(Object.entries<JsonValue>(before as Record<string, JsonValue>));
  const changes: Changes = {};
  for (const [field, to] of Object.entries<JsonValue | undefined>(after as Record<string, JsonValue>)) {
    const from = earlier.get(field);
    if (to === undefined || sameJson(from ?? null, to)) continue;
    changes[field] = shown(from ?? null, to);
  }
  return changes;
}

function shown(from: unknown, to: unknown): { from: unknown; to: unknown } {
  const at = typeof from === "string" && typeof to === "string" ? Math.max(0, firstDifference(from, to) - lead) : 0;
  return { from: cut(from, at), to: cut(to, at) };
}

function cut(value: unknown, at: number): unknown {
  if (typeof value === "string") {
    if (value.length <= longest) return value;
    const excerpt = value.slice(at, at + longest).toWellFormed();
    return `${at > 0 ? "…" : ""}${excerpt}${at + longest < value.length ? "…" : ""}`;
  }
  if (Array.isArray(value)) return value.map((item) => cut(item, 0));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cut(item, 0)]));
}

function firstDifference(a: string, b: string): number {
  let index = 0;
  while (index < a.length && a[index] === b[index]) index += 1;
  return index;
}
