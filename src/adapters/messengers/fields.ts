import { isObject, type JsonObject, parseJson, textOf } from "../../core/json.ts";
import { clip, storable } from "../../core/text/text.ts";

export { listOf, objectOf, textOf } from "../../core/json.ts";

/** The deepest nesting; no messenger's data is this deep. */
const levels = 100;

/** Parses the object in a JSON text; null for anything else. */
export function jsonObject(text: string): JsonObject | null {
  try {
    const value = parseJson(text, levels);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

export const integerOf = (value: unknown): number | null => (Number.isSafeInteger(value) ? Number(value) : null);
export const sizeOf = (value: unknown): number | null => (Number(integerOf(value)) > 0 ? integerOf(value) : null);

const longestName = 200;

/** A person's name on one line, so that it can't look like the words of another person; null for none. */
export const nameOf = (...parts: unknown[]): string | null =>
  clip(
    storable(
      parts
        .map(textOf)
        .join(" ")
        .replaceAll(/[\s\p{Cc}]+/gu, " ")
        .trim(),
    ),
    longestName,
  ) || null;

/** A file's name, or `otherwise`. */
export const fileNameOf = (value: unknown, otherwise: string): string => nameOf(value) ?? otherwise;

const mimeType = /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/;

/** A media type without its parameters. */
export function mimeOf(value: unknown, otherwise = "application/octet-stream"): string {
  const mime = textOf(value).split(";")[0]?.trim().toLowerCase() ?? "";
  return mimeType.test(mime) ? mime : otherwise;
}
