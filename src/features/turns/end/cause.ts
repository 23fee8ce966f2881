import { clip } from "../../../core/text/text.ts";

/** The limits of a failure in a log line, and of a provider's answer in it, in characters. */
const longest = 4_000;
const longestAnswer = 2_000;

const asItIs = (text: string) => text;

/**
 * The cause of a failure as a text for the log, with the status and the body of a provider's response. It is scrubbed
 * before it is cut, since a cut secret is not recognized. Never throws.
 */
export function describeCause(cause: unknown, scrub: (text: string) => string = asItIs): string {
  return clip(scrub(describe(cause, scrub, 0)), longest);
}

function describe(cause: unknown, scrub: (text: string) => string, depth: number): string {
  if (!(cause instanceof Error)) return describeValue(cause);
  const body = "responseBody" in cause && cause.responseBody ? String(cause.responseBody) : "";
  const answer = body === "" ? "" : ` ${clip(scrub(body), longestAnswer)}`;
  const status = "statusCode" in cause && cause.statusCode ? ` (status ${cause.statusCode})` : "";
  const inner =
    cause.cause === undefined || depth === 4 ? "" : `; caused by ${describe(cause.cause, scrub, depth + 1)}`;
  return `${cause.name}: ${cause.message}${status}${answer}${inner}`;
}

function describeValue(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // The error is circular, or too deep for the stack.
    return "an error that cannot be written down";
  }
}
