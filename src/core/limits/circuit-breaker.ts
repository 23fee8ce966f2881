import type { Clock } from "../ports.ts";

/** How long an unresponsive target rests, in milliseconds: doubled each time, up to a minute. */
const [firstMs, longestMs] = [2_000, 60_000];

/** The time limit of a probe of a resting target. */
const probeMs = 30_000;

/**
 * Pauses calls to targets that recently did not respond, such as a messenger's account. A hanging request holds a slot
 * that other targets need. After the pause the target gets one request at a time until it responds.
 */
export interface CircuitBreaker {
  /** The end of the target's rest; null when it may be called now. */
  until(target: string): number | null;
  /** Notes whether the target responded. */
  note(target: string, answered: boolean): void;
}

export function createCircuitBreaker(clock: Clock): CircuitBreaker {
  const resting = new Map<string, { failures: number; until: number }>();
  return {
    until(target) {
      const rest = resting.get(target);
      if (!rest) return null;
      if (rest.until > clock.now()) return rest.until;
      rest.until = clock.now() + probeMs;
      return null;
    },
    note(target, answered) {
      if (answered) return void resting.delete(target);
      const failures = (resting.get(target)?.failures ?? 0) + 1;
      resting.set(target, { failures, until: clock.now() + Math.min(longestMs, firstMs * 2 ** (failures - 1)) });
    },
  };
}
