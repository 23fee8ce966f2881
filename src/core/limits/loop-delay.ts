import type { Clock } from "../ports.ts";

const everyMs = 10;

/** An older sample is ignored. */
const staleMs = 100;

/** The weight of the newest sample. A single pause, such as a garbage collection, is no overload. */
const weight = 0.25;

/**
 * How late the event loop runs a timer, in milliseconds: the mean of the last samples. Samples are taken only while
 * this is called, so that an idle process sleeps.
 */
export function loopDelay(clock: Clock): () => number {
  let mean = 0;
  let sampledAt = Number.NEGATIVE_INFINITY;
  let due: number | null = null;
  const sample = () => {
    const now = clock.now();
    const before = now - sampledAt > staleMs ? 0 : mean;
    // The clock may be set back.
    mean = before + weight * (Math.max(0, now - (due ?? now)) - before);
    sampledAt = now;
    due = null;
  };
  return () => {
    const now = clock.now();
    const known = now - sampledAt > staleMs ? 0 : mean;
    if (due === null) {
      due = now + everyMs;
      clock.after(everyMs, sample);
      return known;
    }
    // The timer is overdue: many calls arrived at once, and the loop is still busy with them.
    return Math.max(known, weight * (now - due));
  };
}
