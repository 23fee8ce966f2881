import type { Clock } from "../../../core/ports.ts";

/** How long an account rests that did not answer, in milliseconds: twice as long each time, up to a minute. */
const [firstMs, longestMs] = [2_000, 60_000];

/** How long a probe of a resting account may take. */
const probeMs = 30_000;

/**
 * The accounts that lately did not answer. Each hanging call holds a slot that the replies of other agents need, so such
 * an account rests, and then gets one call at a time until it answers.
 */
export interface Rests {
  /** Until when the account rests; null when it may be called now. */
  until(account: string): number | null;
  /** The account answered, or did not. */
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
