import type { MessengerError } from "../../../core/channels/messengers.ts";
import { backoffMs } from "../../../jobs/backoff.ts";

/**
 * The most attempts at a part, besides waits that the messenger requests. With the pauses between, they take about half
 * an hour.
 */
const mostAttempts = 10;

/** The longest time for which a part is retried. */
const longestWaitMs = 24 * 60 * 60 * 1000;

/** The new state of a part that could not be sent. */
export type Verdict =
  | { kind: "failed"; error: string }
  /** `sending`: it may have been sent. */
  | { kind: "waits"; status: "pending" | "sending"; attempts: number; retryAt: Date };

interface Tried {
  /** The attempts, including this one. */
  attempts: number;
  /** Whether the messenger may already have the part. */
  mayBeRepeated: boolean;
  createdAt: Date;
}

/**
 * Decides after a failed attempt; `random` is from 0 to 1. A part that the messenger may have is sent once more, and
 * then given up.
 */
export function verdictOf(error: MessengerError, part: Tried, now: number, random: number): Verdict {
  const { attempts, mayBeRepeated, createdAt } = part;
  const { message, isPermanent, retryAfterMs, mayBeDone } = error;
  if (mayBeDone && mayBeRepeated)
    return { kind: "failed", error: `${message}; it may have been delivered all the same` };
  if (isPermanent && !mayBeDone) return { kind: "failed", error: message };
  // Parts that were refused together must not return together.
  const waitMs = retryAfterMs === null ? backoffMs(attempts, random) : retryAfterMs + random * 1_000;
  const retryAt = new Date(now + waitMs);
  const isTooLate = retryAt.getTime() > createdAt.getTime() + longestWaitMs;
  if (isTooLate || (retryAfterMs === null && attempts >= mostAttempts)) return { kind: "failed", error: message };
  // A requested wait is no failure.
  const counted = retryAfterMs === null ? attempts : attempts - 1;
  return { kind: "waits", status: mayBeDone ? "sending" : "pending", attempts: counted, retryAt };
}
