import { z } from "@hono/zod-openapi";
import { isDeeperThan } from "../json.ts";

export { isDeeperThan } from "../json.ts";

/** Whether PostgreSQL stores the text unchanged: without NUL (22021, 22P05) and lone surrogates (22P02). */
export function isStorable(text: string): boolean {
  return !text.includes("\u0000") && text.isWellFormed();
}

/** Makes any text storable: removes NUL, and replaces lone surrogates by U+FFFD. */
export function storable(text: string): string {
  if (isStorable(text)) return text;
  return text.replaceAll("\u0000", "").toWellFormed();
}

/** The first `limit` UTF-16 units, without cutting a character in half. */
export function clip(text: string, limit: number): string {
  return text.length <= limit ? text : text.slice(0, limit).toWellFormed();
}

/** Text for a log or a terminal: control characters and those that change the writing direction become `\\uXXXX`. */
export function visible(text: string): string {
  return text.replaceAll(unseen, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A text from outside on one short line, for an error or a log. */
export function oneLine(text: string, limit: number): string {
  return clip(visible(storable(text).replaceAll(/\s+/g, " ")).trim(), limit);
}

/** C1 controls, direction marks, line separators, and zero-width characters. C0 controls are left to the callers. */
const unseen = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/**
 * Matches a visible character: no control, no space, no default-ignorable character such as Hangul's fillers, and not
 * the Braille blank, which is in none of these classes.
 */
const shown = /[^\p{Cc}\p{White_Space}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Whether a text has no visible character. */
export const isBlank = (text: string) => !shown.test(text);

/** Matches NUL and lone surrogates in JSON, and also escaped text that looks the same. */
const unstorable = /\\u(?:0000|d[89a-f])/;

/** `JSON.stringify`, with a result that PostgreSQL accepts as jsonb, whatever strings a model or tool made. */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value);
  return unstorable.test(json) ? cleanJson(value) : json;
}

function cleanJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner === "string") return storable(inner);
    if (inner === null || typeof inner !== "object" || Array.isArray(inner)) return inner;
    if (Object.keys(inner).every(isStorable)) return inner;
    return Object.fromEntries(Object.entries(inner).map(([key, member]) => [storable(key), member]));
  });
}

const storableMessage = "must not contain NUL or unpaired surrogates";
const utf8 = new TextEncoder();

/** Why a caller's own value can't be stored; null when it can. `bytes` limits its JSON in UTF-8. */
export function jsonProblem(value: unknown, { levels, bytes }: { levels: number; bytes: number }): string | null {
  // The depth is checked first, since all further checks visit every level.
  if (isDeeperThan(value, levels)) return `must not be nested deeper than ${levels} levels`;
  const text = JSON.stringify(value);
  if (utf8.encode(text).byteLength > bytes) return `must be at most ${bytes} bytes as JSON`;
  return storableJson(value) === text ? null : storableMessage;
}

/** A string of at most `max` UTF-16 units that the database can store. */
export function zText(max: number) {
  return z.string().max(max, `must be at most ${max} characters`).refine(isStorable, { message: storableMessage });
}

/** An integer that fits PostgreSQL's `integer`. */
export function zInt4(min = 0, max = 2_147_483_647) {
  return z.int(`must be a whole number`).min(min, `must be at least ${min}`).max(max, `must be at most ${max}`);
}

/**
 * Matches combining marks beyond those that any language puts in a row (UAX #15, "Stream-Safe Text Format").
 * `normalize` sorts a row in quadratic time: 80,000 marks take 2 s.
 */
const surplusMarks = /(\p{M}{30})\p{M}+/gu;

/** Normalizes a stranger's text in linear time. Of combining marks in a row, only the first 30 stay. */
export function normalized(text: string, form: "NFC" | "NFD" | "NFKC" | "NFKD"): string {
  return text.replaceAll(surplusMarks, "$1").normalize(form);
}
