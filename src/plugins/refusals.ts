import type { PluginAnswer } from "../core/plugins/plugin.ts";

/** A service that tools call with a token of the agent. */
export interface Service {
  /** The service's name in error texts, such as `GitHub`. */
  name: string;
  /** The key of the secret that holds the token. */
  secret: string;
}

/** Warns a model that a write may have succeeded. */
export const mayBeDone = "The change may have been made: look before you try again.";

/** A response that reports a failure. */
export interface Refusal {
  answer: PluginAnswer;
  /** Whether the request was to change something. */
  writes: boolean;
  /** The service's error text, in one line; empty for none. */
  words: string;
  /** The service's text about rights that the token lacks; empty for none. */
  lacks: string;
  /** The time, in milliseconds since the epoch. */
  now: number;
}

/** The message of an error for a model: the status, the service's text, and what to do. */
export function explainRefusal(service: Service, refusal: Refusal): string {
  const { answer, words } = refusal;
  const said = words === "" ? "" : `: ${/[.!?]$/.test(words) ? words : `${words}.`}`;
  const advice = adviceOf(service, refusal);
  return `${service.name} answered ${answer.status}${said === "" ? "." : said}${advice === "" ? "" : ` ${advice}`}`;
}

function adviceOf({ name, secret }: Service, refusal: Refusal): string {
  const { status } = refusal.answer;
  if (isRateLimit(refusal)) return `The rate limit is used up; ${whenAgain(refusal)}.`;
  if (status === 401) {
    return `The token in the secret ${secret} is wrong or has expired; an administrator must store a new one.`;
  }
  if (status === 403) return `The token in the secret ${secret} lacks the permission${needed(refusal.lacks)}.`;
  if (status === 404) return `There is no such thing, or the token in the secret ${secret} has no right to it.`;
  if (status >= 300 && status < 400) return "It was moved to another host, which is not asked with the token.";
  if (status >= 500) return `${name} has trouble now. ${refusal.writes ? mayBeDone : "Try again later."}`;
  return "";
}

const needed = (lacks: string) => (lacks === "" ? "" : `; the call needs ${lacks}`);

/** Whether a rate limit refused the request; GitHub also uses 403 for that. */
function isRateLimit({ answer: { status, headers }, words }: Refusal): boolean {
  if (status === 429) return true;
  if (status !== 403) return false;
  return headers["x-ratelimit-remaining"] === "0" || "retry-after" in headers || /\brate limit/i.test(words);
}

function whenAgain({ answer: { headers }, now }: Refusal): string {
  const at = opensAt(headers, now);
  if (at === null) return "try again in a minute or later";
  const seconds = Math.max(1, Math.ceil((at - now) / 1_000));
  return `try again in ${seconds} seconds (at ${new Date(at).toISOString()})`;
}

const aDay = 86_400;

/** When the rate limit ends, in milliseconds since the epoch; null without a plausible header. */
function opensAt(headers: PluginAnswer["headers"], now: number): number | null {
  const value = headers["retry-after"] ?? headers["x-ratelimit-reset"] ?? headers["ratelimit-reset"] ?? "";
  const at = /^\d{1,10}$/.test(value) ? secondsAt(Number(value), now) : Date.parse(value);
  return at > now - aDay * 1_000 && at < now + 31 * aDay * 1_000 ? at : null;
}

/** Services send either seconds from now, or seconds since the epoch. */
const secondsAt = (seconds: number, now: number) => (seconds > 1_000_000_000 ? 0 : now) + seconds * 1_000;
