import { scrubbed } from "../../../core/scrub/scrub.ts";

/** Names of fields whose texts are never logged, at any depth. */
const credential = /authorization|cookie|passw|secret|credential|token|key$/i;

/** Limits of one log line. Deeper, longer or wider values are cut, so that no line can flood the log. */
const deepest = 6;
const longest = 4096;
const widest = 100;

/**
 * The fields without credentials and without parameters of failed statements, cut to the limits. Numbers and booleans
 * are kept under any name, since `promptTokens: 12` reveals no secret.
 */
export function loggableFields(fields: object, depth = 0): Record<string, unknown> {
  const entries = fields instanceof Map ? [...fields] : Object.entries(fields);
  return Object.fromEntries(entries.slice(0, widest).map(([name, field]) => [name, loggableField(name, field, depth)]));
}

function loggable(value: unknown, depth: number): unknown {
  if (typeof value === "string") return shorten(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "function" || typeof value === "symbol") return undefined;
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof URL) return shorten(value.href);
  if (value instanceof Error) return depth > deepest ? value.name : describeError(value, depth);
  if (depth >= deepest) return "…";
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
  if (Array.isArray(value)) return value.slice(0, widest).map((item) => loggable(item, depth + 1));
  if (value instanceof Set) return loggable([...value], depth);
  return loggableFields(value, depth);
}

function loggableField(name: unknown, field: unknown, depth: number): unknown {
  const mayHoldText = typeof field === "string" || (typeof field === "object" && field !== null);
  return mayHoldText && credential.test(String(name)) ? scrubbed : loggable(field, depth + 1);
}

/** The fields of an error that explain it: codes, and a provider's response. */
const errorFields = [
  "code",
  "status",
  "statusCode",
  "severity",
  "constraint_name",
  "table_name",
  "url",
  "responseBody",
];

/** Logs only the frames of the stack, since its first lines repeat the message. */
function describeError(error: Error, depth: number): Record<string, unknown> {
  const own = errorFields.filter((name) => name in error).map((name) => [name, Reflect.get(error, name)] as const);
  const several = error instanceof AggregateError ? error.errors : undefined;
  return {
    type: error.name,
    message: shorten(messageOf(error)),
    ...Object.fromEntries(own.map(([name, field]) => [name, loggable(field, depth + 1)])),
    stack: shorten((error.stack ?? "").split("\n").filter(isFrame).join("\n")),
    ...(several ? { errors: loggable(several, depth + 1) } : {}),
    ...(error.cause === undefined ? {} : { cause: loggable(error.cause, depth + 1) }),
  };
}

const isFrame = (line: string) => line.startsWith("    at ");

/** The message of an error, without the parameters of a failed statement: users' texts, digests and keys. */
function messageOf(error: Error): string {
  const { message } = error;
  return "params" in error ? message.replace(/\nparams: [\s\S]*$/, "") : message;
}

function shorten(text: string): string {
  return text.length <= longest ? text : `${text.slice(0, longest).toWellFormed()}… (${text.length} characters)`;
}
