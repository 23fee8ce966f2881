/** Values that JSON can hold. */
export type JsonObject = { [key: string]: JsonValue };
export type JsonValue = null | string | number | boolean | JsonValue[] | { [key: string]: JsonValue };

/** A value of a wire shape, whose type does not say that JSON can hold it. */
export const asJson = (value: unknown) => value as JsonValue;

/** Whether a value, as JSON or YAML gives it, is an object: neither null nor a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The members of a value whose shape is not to be relied on. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Whether objects and lists are nested in each other more than `levels` times. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (value === null || typeof value !== "object") return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}

/** Whether two values are equal; the order of an object's keys does not matter. */
export function sameJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true;
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const others = new Map(Object.entries(b));
  const own = Object.entries(a);
  return own.length === others.size && own.every(([key, value]) => others.has(key) && sameJson(value, others.get(key)));
}

/** Replaces each value of a JSON text, innermost first. `source` is the text of a number, where known. */
type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

/** The value of a JSON text. Throws a `SyntaxError`; a text nested deeper than `levels` is refused before parsing. */
export function parseJson(text: string, levels: number, reviver?: Reviver): unknown {
  if (opensDeeperThan(text, levels)) throw new SyntaxError("The JSON is nested too deeply");
  return JSON.parse(text, reviver);
}

/** Whether a JSON text nests its objects and lists more than `levels` times. The text is not parsed. */
function opensDeeperThan(text: string, levels: number): boolean {
  return jsonExcess(text, { levels }) !== null;
}

/**
 * The limit that a JSON text exceeds, in words that follow its name, such as `holds more than 5 values`; null when it
 * exceeds none. The text is not parsed.
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
