import { EngineError } from "../../../core/errors.ts";
import type { PersonalToken } from "./schema.ts";

/** The most personal tokens of a user that have not expired. */
export const mostTokens = 20;

const hourMs = 60 * 60 * 1000;

/** For each scope, the usual and the longest lifetime in hours, and the latter in words. */
const lifetimes = {
  organization: { usual: 90 * 24, longest: 365 * 24, words: "365 days" },
  installation: { usual: 24, longest: 24, words: "24 hours" },
} as const;

/** When a new token expires. Throws the 400 for a time that is past or too late. */
export function expiryOf(createdAt: Date, scope: PersonalToken["scope"], wanted: string | undefined): Date {
  const { usual, longest, words } = lifetimes[scope];
  const after = (hours: number) => new Date(createdAt.getTime() + hours * hourMs);
  const expiresAt = wanted === undefined ? after(usual) : new Date(wanted);
  if (expiresAt <= createdAt) throw new EngineError("bad-request", "expiresAt: must be in the future");
  if (expiresAt > after(longest)) throw new EngineError("bad-request", `expiresAt: must be within ${words}`);
  return expiresAt;
}
