import type { Clock } from "../../../core/ports.ts";

/** How long an unresponsive account rests, in milliseconds: doubled each time, up to a minute. */
const [firstMs, longestMs] = [2_000, 60_000];

/** The time limit of a probe of a resting account. */
const probeMs = 30_000;

/**
 * Accounts that recently did not respond. Each hanging request holds a slot that other agents' replies need, so such an
 * account rests, and then gets one request at a time until it responds.
 */
export interface Rests {
  /** The end of the account's rest; null when it may be called now. */
  until(account: string): number | null;
  /** Notes whether the account responded. */
  note(account: string, answered: boolean): void;
}

export function createRests(clock: Clock): Rests {
  const resting = new Map<string, { failures: number; until: number }>();
  return {
    until(account) {
      const rest = resting.get(account);
      if (!rest) return null;
      if (rest.until > clock.now()) return rest.until;
      rest.until = clock.now() + probeMs;
      return null;
    },
    note(account, answered) {
      if (answered) return void resting.delete(account);
      const failures = (resting.get(account)?.failures ?? 0) + 1;
      resting.set(account, { failures, until: clock.now() + Math.min(longestMs, firstMs * 2 ** (failures - 1)) });
    },
  };
}
