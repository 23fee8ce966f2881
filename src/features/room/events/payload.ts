import { answerText, formFields } from "../../../core/egress/text.ts";
import { type JsonValue, parseJson } from "../../../core/json.ts";
import { storable, storableJson } from "../../../core/text/text.ts";

/** The largest webhook body, in raw bytes. */
export const mostPayloadBytes = 65_536;

/** The deepest nesting. PostgreSQL and functions over values recurse: 64 KB of brackets would exhaust their stacks. */
export const deepestPayload = 200;

/** The errors of an unreadable webhook request, in the order of the checks (decisions §9). */
export type PayloadProblem = "payload too large" | "unsupported content type" | "invalid payload";

export type ReadPayload = { ok: true; payload: JsonValue } | { ok: false; error: PayloadProblem };

/**
 * A webhook's payload in storable form: without NUL, lone surrogates and numbers that JSON can't represent. A whole
 * number that is too long becomes a text. A form becomes an object of strings; a repeated field becomes a list.
 */
export function readPayload(body: Uint8Array, contentType: string | null): ReadPayload {
  if (body.byteLength > mostPayloadBytes) return { ok: false, error: "payload too large" };
  const read = readers.get(mediaTypeOf(contentType ?? ""));
  if (!read) return { ok: false, error: "unsupported content type" };
  try {
    const value = read(body, contentType ?? "");
    return { ok: true, payload: JSON.parse(storableJson(value)) };
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false, error: "invalid payload" };
    throw error;
  }
}

const mediaTypeOf = (contentType: string) => contentType.split(";")[0]?.trim().toLowerCase() ?? "";

const readers = new Map<string, (body: Uint8Array, contentType: string) => unknown>([
  ["application/json", jsonValue],
  ["application/x-www-form-urlencoded", formObject],
]);

function jsonValue(body: Uint8Array, contentType: string): unknown {
  const text = answerText(body, contentType);
  return parseJson(text, deepestPayload, longDigits.test(text) ? wholeAsText : undefined);
}

/** Matches whole numbers that may lose digits. Checking each value takes some 50 times as long as parsing. */
const longDigits = /\d{16}/;

/** Reads a whole number that is too long as a text: a 64-bit id would lose its last digits as a number. */
function wholeAsText(_key: string, value: unknown, { source = "" }: { source?: string } = {}): unknown {
  return typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? source : value;
}

function formObject(body: Uint8Array, contentType: string): unknown {
  const fields = new Map<string, string[]>();
  for (const [name, value] of formFields(body, contentType)) {
    const key = storable(name);
    const values = fields.get(key);
    if (values) values.push(value);
    else fields.set(key, [value]);
  }
  // Not by assignment, which would not set a field named `__proto__`.
  return Object.fromEntries([...fields].map(([key, values]) => [key, values.length === 1 ? values[0] : values]));
}
