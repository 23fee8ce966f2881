import type { MessengerError } from "../../../core/channels/messengers.ts";
import { backoffMs } from "../../../jobs/backoff.ts";

/** How often a part is tried, unless the messenger asks to wait. With the pauses between, that takes about half an hour. */
const mostAttempts = 10;

/** A part is retried for a day at most. */
const longestWaitMs = 24 * 60 * 60 * 1000;

/** The new state of a part that could not be sent. */
export type Verdict =
  | { kind: "failed"; error: string }
  /** `sending`: it may have been sent. */
  | { kind: "waits"; status: "pending" | "sending"; attempts: number; retryAt: Date };

interface Tried {
  /** This time included. */
  attempts: number;
  /** Whether the messenger may have had the part before. */
  mayBeRepeated: boolean;
  createdAt: Date;
}

/** `random` is from 0 to 1. A part that the messenger may have had is sent once more, and then given up. */
export function verdictOf(error: MessengerError, part: Tried, now: number, random: number): Verdict {
  const { attempts, mayBeRepeated, createdAt } = part;
  const { message, isPermanent, retryAfterMs, mayBeDone } = error;
  if (mayBeDone && mayBeRepeated)
    return { kind: "failed", error: `${message}; it may have been delivered all the same` };
  if (isPermanent && !mayBeDone) return { kind: "failed", error: message };
  // Parts that were refused together are not to come back together.
  const waitMs = retryAfterMs === null ? backoffMs(attempts, random) : retryAfterMs + random * 1_000;
  const retryAt = new Date(now + waitMs);
  const isTooLate = retryAt.getTime() > createdAt.getTime() + longestWaitMs;
  if (isTooLate || (retryAfterMs === null && attempts >= mostAttempts)) return { kind: "failed", error: message };
  // Being asked to wait is no failure.
  const counted = retryAfterMs === null ? attempts : attempts - 1;
  return { kind: "waits", status: mayBeDone ? "sending" : "pending", attempts: counted, retryAt };
}
