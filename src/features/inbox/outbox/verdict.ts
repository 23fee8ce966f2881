import type { MessengerError } from "../../../core/channels/messengers.ts";
import { backoffMs } from "../../../jobs/backoff.ts";

/**
 * The most attempts to send a part, without waits that the messenger requests. With the pauses, they take about half an
 * hour.
 */
const mostAttempts = 10;

/** The longest time for which a part is retried. */
const longestWaitMs = 24 * 60 * 60 * 1000;

/** The next state of a part that could not be sent. */
export type Verdict =
  | { kind: "failed"; error: string }
  /** `sending`: the part may have been sent. */
  | { kind: "waits"; status: "pending" | "sending"; attempts: number; retryAt: Date };

interface TriedPart {
  /** The number of attempts, including this one. */
  attempts: number;
  /** Whether the messenger may already have the part. */
  mayBeRepeated: boolean;
  createdAt: Date;
}

/**
 * Decides what happens after a failed attempt; `random` is from 0 to 1. A part that the messenger may have received is
 * sent once more, and then given up.
 */
export function verdictOf(error: MessengerError, part: TriedPart, now: number, random: number): Verdict {
  const { attempts, mayBeRepeated, createdAt } = part;
  const { message, isPermanent, retryAfterMs, mayBeDone } = error;
  if (mayBeDone && mayBeRepeated)
    return { kind: "failed", error: `${message}; it may have been delivered all the same` };
  if (isPermanent && !mayBeDone) return { kind: "failed", error: message };
  // A random addition, so that parts that were refused together do not return together.
  const waitMs = retryAfterMs === null ? backoffMs(attempts, random) : retryAfterMs + random * 1_000;
  const retryAt = new Date(now + waitMs);
  const isTooLate = retryAt.getTime() > createdAt.getTime() + longestWaitMs;
  if (isTooLate || (retryAfterMs === null && attempts >= mostAttempts)) return { kind: "failed", error: message };
  // A wait that the messenger requests is not counted as an attempt.
  const counted = retryAfterMs === null ? attempts : attempts - 1;
  return { kind: "waits", status: mayBeDone ? "sending" : "pending", attempts: counted, retryAt };
}
