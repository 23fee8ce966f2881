/** Values that JSON can hold. */
export type JsonObject = { [key: string]: JsonValue };
export type JsonValue = null | string | number | boolean | JsonValue[] | { [key: string]: JsonValue };

/** Treats a value of a wire shape as JSON, which its type does not say. */
export const asJson = (value: unknown) => value as JsonValue;

/** Whether a JSON or YAML value is an object: neither null nor a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The members of a value of unknown form; empty unless it is an object. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Whether objects and lists are nested more than `levels` times. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (value === null || typeof value !== "object") return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}

/** Whether two values are equal. The order of an object's keys does not matter. */
export function sameJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true;
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const others = new Map(Object.entries(b));
  const own = Object.entries(a);
  return own.length === others.size && own.every(([key, value]) => others.has(key) && sameJson(value, others.get(key)));
}

/** Replaces each value of a JSON text, innermost first. `source` is a number's text, if known. */
type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

/** Parses JSON. Throws a `SyntaxError`; refuses a text nested deeper than `levels` before parsing. */
export function parseJson(text: string, levels: number, reviver?: Reviver): unknown {
  if (opensDeeperThan(text, levels)) throw new SyntaxError("The JSON is nested too deeply");
  return JSON.parse(text, reviver);
}

/** Whether a JSON text is nested more than `levels` times, without parsing it. */
function opensDeeperThan(text: string, levels: number): boolean {
  return jsonExcess(text, { levels }) !== null;
}

/**
 * Which limit a JSON text exceeds, as the end of a sentence, such as `holds more than 5 values`; null when it exceeds
 * none. Does not parse the text.
 */
export function jsonExcess(text: string, limits: { levels: number; values?: number }): string | null {
  const { levels, values = Number.POSITIVE_INFINITY } = limits;
  let depth = 0;
  let count = 1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (code === comma) count += 1;
    else if (code === openBracket || code === openBrace) {
      depth += 1;
      count += 1;
    } else if (code === closeBracket || code === closeBrace) depth -= 1;
    if (depth > levels) return `is nested more than ${levels} levels deep`;
    if (count > values) return `holds more than ${values} values`;
  }
  return null;
}

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1;
  return at;
}
