import type { Clock } from "../ports.ts";

/** The time limit of a probe of a resting target. */
const probeMs = 30_000;

interface Rests {
  /** The number of failures in a row after which a target rests. */
  failures: number;
  /** The length of a rest after this many failures, in milliseconds. */
  restMs(failures: number): number;
}

/** A target rests after each failure, twice as long each time: from 2 seconds to a minute. */
const doubling: Rests = { failures: 1, restMs: (failures) => Math.min(60_000, 2_000 * 2 ** (failures - 1)) };

/**
 * Pauses calls to targets that recently did not respond, such as a messenger's account. A hanging request holds a slot
 * that other targets need. After the pause the target gets one request at a time until it responds.
 */
export interface CircuitBreaker {
  /** Whether the target may not be called now. */
  isResting(target: string): boolean;
  /** The end of the target's rest; null when it is called now. */
  until(target: string): number | null;
  /** Notes whether the target responded. */
  note(target: string, answered: boolean): void;
}

export function createCircuitBreaker(clock: Clock, { failures: most, restMs } = doubling): CircuitBreaker {
  const failing = new Map<string, { failures: number; until: number }>();
  return {
    isResting: (target) => (failing.get(target)?.until ?? 0) > clock.now(),
    until(target) {
      const rest = failing.get(target);
      if (!rest || rest.failures < most) return null;
      if (rest.until > clock.now()) return rest.until;
      rest.until = clock.now() + probeMs;
      return null;
    },
    note(target, answered) {
      if (answered) return void failing.delete(target);
      const failures = (failing.get(target)?.failures ?? 0) + 1;
      failing.set(target, { failures, until: failures < most ? 0 : clock.now() + restMs(failures) });
    },
  };
}
