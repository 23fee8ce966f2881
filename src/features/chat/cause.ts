/** What a log line may hold of a provider's answer. */
const longest = 4_000;

/** The cause of a failure in words, for the log: with the status and the body of a provider's answer. Never throws. */
export function describeCause(cause: unknown, depth = 0): string {
  if (!(cause instanceof Error)) return describeValue(cause).slice(0, longest);
  const answer = "responseBody" in cause && cause.responseBody ? ` ${String(cause.responseBody).slice(0, 2_000)}` : "";
  const status = "statusCode" in cause && cause.statusCode ? ` (status ${cause.statusCode})` : "";
  const inner = cause.cause === undefined || depth === 4 ? "" : `; caused by ${describeCause(cause.cause, depth + 1)}`;
  return `${cause.name}: ${cause.message}${status}${answer}${inner}`.slice(0, longest);
}

function describeValue(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // Circular, or deeper than the stack.
    return "an error that cannot be written down";
  }
}
