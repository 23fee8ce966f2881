// Compares the values that two schemas accept, without their fields.
import { type Place, type Report, type Schema, same } from "./document.ts";
import { typesOf, valuesOf } from "./shapes.ts";

/** Keywords that do not restrict a value. */
const silent = new Set(["description", "title", "example", "examples", "deprecated", "$comment", "externalDocs"]);

/** Keywords that are compared below and in schemas.ts. */
const known = new Set([
  ...["type", "enum", "const", "format", "pattern", "default", "properties", "required", "additionalProperties"],
  ...["items", "oneOf", "anyOf", "allOf", "discriminator"],
]);

const [lower, upper] = [
  ["minLength", "minimum", "exclusiveMinimum", "minItems", "minProperties"],
  ["maxLength", "maximum", "exclusiveMaximum", "maxItems", "maxProperties"],
];
const bounds = new Set([...lower, ...upper]);

export function compareLimits(was: Schema, is: Schema, place: Place, report: Report): void {
  if (!compareTypes(was, is, place, report)) return;
  compareValues(valuesOf(was), valuesOf(is), place, report);
  compareBounds(was, is, place, report);
  compareTexts(was, is, place, report);
  for (const keyword of new Set([...Object.keys(was), ...Object.keys(is)])) {
    if (silent.has(keyword) || known.has(keyword) || bounds.has(keyword) || keyword.startsWith("x-")) continue;
    // Changes of a new keyword count as breaking until this list names the keyword.
    if (!same(was[keyword], is[keyword])) report(true, place, `${keyword} ${changed(was[keyword], is[keyword])}`);
  }
}

/** Compares the types. Returns whether both schemas share one, so that further comparisons make sense. */
function compareTypes(was: Schema, is: Schema, place: Place, report: Report): boolean {
  const [before, after] = [typesOf(was), typesOf(is)];
  const covers = (types: string[] | null, type: string) =>
    types === null || types.includes(type) || (type === "integer" && types.includes("number"));
  const lost = before ? before.filter((type) => !covers(after, type)) : after ? ["any value"] : [];
  const gained = after ? after.filter((type) => !covers(before, type)) : before ? ["any value"] : [];
  if (lost.length > 0) report(place.direction === "request", place, `may no longer be ${lost.join(" or ")}`);
  if (gained.length > 0) report(place.direction === "answer", place, `may be ${gained.join(" or ")} now`);
  const all = [...(before ?? []), ...(after ?? [])];
  if (before === null || after === null) return lost.length + gained.length === 0;
  return all.some((type) => type !== "null" && covers(before, type) && covers(after, type));
}

function compareValues(was: unknown[] | null, is: unknown[] | null, place: Place, report: Report): void {
  const show = (values: unknown[]) => values.map((value) => JSON.stringify(value)).join(", ");
  const without = (values: unknown[], others: unknown[]) =>
    values.filter((value) => !others.some((other) => same(value, other)));
  if (was === null || is === null) {
    if (is !== null) report(place.direction === "request", place, `may only be ${show(is)} now`);
    if (was !== null) report(false, place, `may be other values than ${show(was)} now`);
    return;
  }
  const [gone, added] = [without(was, is), without(is, was)];
  // A client that waits for a removed value in a response waits for ever.
  if (gone.length > 0) report(true, place, `may no longer be ${show(gone)}`);
  if (added.length > 0) report(false, place, `may be ${show(added)} now`);
}

function compareBounds(was: Schema, is: Schema, place: Place, report: Report): void {
  for (const keyword of bounds) {
    const [before, after] = [was[keyword], is[keyword]];
    if (before === after) continue;
    const [old, now] = [Number(before ?? Number.NaN), Number(after ?? Number.NaN)];
    const tighter = after !== undefined && (before === undefined || (lower?.includes(keyword) ? now > old : now < old));
    report(tighter && place.direction === "request", place, `${keyword} ${changed(before, after)}`);
  }
}

function compareTexts(was: Schema, is: Schema, place: Place, report: Report): void {
  const request = place.direction === "request";
  for (const keyword of ["format", "pattern", "default"]) {
    const [before, after] = [was[keyword], is[keyword]];
    if (same(before, after)) continue;
    const breaking = {
      // A request must satisfy the new format, and a reader of responses relies on the old one.
      format: request ? after !== undefined : before !== undefined,
      pattern: request && after !== undefined,
      // A request without the field gets another default.
      default: request && before !== undefined,
    }[keyword];
    report(breaking ?? true, place, `${keyword} ${changed(before, after)}`);
  }
}

function changed(before: unknown, after: unknown): string {
  if (before === undefined) return `is new: ${JSON.stringify(after)}`;
  if (after === undefined) return `is gone: ${JSON.stringify(before)}`;
  return `was ${JSON.stringify(before)}, is ${JSON.stringify(after)}`;
}
