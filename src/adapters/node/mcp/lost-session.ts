import { isObject } from "../../../core/json.ts";

/** Thrown when the server no longer knows the session; the tool did not run. */
export class LostSession extends Error {}

const gone = "(?:not found|unknown|expired|invalid|not valid|terminated|closed|missing|not initiali[sz]ed|not exist)";
const words = new RegExp(
  String.raw`\bsession\b.{0,60}\b${gone}\b|\b(?:unknown|expired|invalid|missing|no|no valid|stale)\b.{0,20}\bsession\b`,
  "i",
);

/** In bytes: longer than any error about a session. */
const longest = 64 * 1024;

/**
 * Whether a response says that the server lost the session. The protocol requires a 404, but some servers send 400 or
 * 401, and others any status, or an error text in a 200.
 */
export function tellsLostSession(status: number, body: string): boolean {
  if (status === 404 || status === 401) return true;
  if (body.length > longest) return false;
  const error = errorIn(body);
  const code = error?.code;
  // Servers report a lost session with a code that JSON-RPC reserves for them, or as an invalid request.
  const isOther = typeof code === "number" && (code < -32_099 || code > -32_000) && code !== -32_600;
  if (status === 400) return !isOther && (code !== -32_600 || words.test(body));
  if (status === 200) return error !== null && !isOther && words.test(String(error.message));
  return words.test(body);
}

function errorIn(body: string): Record<string, unknown> | null {
  try {
    const message: unknown = JSON.parse(body);
    return isObject(message) && isObject(message.error) ? message.error : null;
  } catch {
    return null;
  }
}
