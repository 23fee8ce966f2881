import { type JsonObject, type JsonValue, listOf } from "../core/json.ts";
import { shorten } from "../core/text/clip-json.ts";

// Read a field of a service's response for a tool's result; null when the service sent a value of another type.

export const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);
export const numberOrNull = (value: unknown): number | null => (typeof value === "number" ? value : null);
export const isTrue = (value: unknown): boolean => value === true;

/** A long text that people wrote, shortened to `limit`. */
export const longText = (value: unknown, limit: number): string | null =>
  typeof value === "string" ? shorten(value, limit) : null;

/** The names in a list of texts, or of objects that contain them. */
export function namesOf(value: unknown, nameOf: (item: unknown) => unknown): string[] {
  return listOf(value).flatMap((item) => textOrNull(typeof item === "string" ? item : nameOf(item)) ?? []);
}

/** The fields whose values are not undefined. */
export function given(fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}
