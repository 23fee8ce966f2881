/** The measurements since the last check. */
interface Measurements {
  /** The delay of the event loop, in milliseconds. */
  lateMs: number;
  /** The duration of each piece of work that ended, in milliseconds. */
  tookMs: readonly number[];
  /** How long work has been running without any of it ending, in milliseconds. */
  stalledMs: number;
  /** Whether work had to wait or was refused. */
  reached: boolean;
}

/** The smallest limit: with a limit of zero nothing could be measured. */
export const leastSlots = 8;

/** The first limit, which is used again after a calm time. */
const usualSlots = 32;

/** The accepted delay of the event loop. A turn, a token or a refusal meets this delay several times. */
const lateTargetMs = 15;

/** The accepted duration of work. With a distant database, twice the work's best duration is accepted. */
const workTargetMs = 100;
const atBest = 2;

/** Keeps the best time for one to two windows of this length, in milliseconds. */
const bestMs = 5 * 60_000;

/** The time without waiting work, or without a delay, that counts as calm, in milliseconds. */
const calmMs = 1_000;

/**
 * Limits how much work runs at a time. While the event loop or the work itself is late, the limit shrinks in
 * proportion; it grows step by step while nothing is late and work waits.
 */
export class AdaptiveLimit {
  #slots = usualSlots;
  /** The number of late checks in a row. A single one may be only a pause, such as a garbage collection. */
  #late = 0;
  #lateAt = Number.NEGATIVE_INFINITY;
  #reachedAt = Number.NEGATIVE_INFINITY;
  #best = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY] as [number, number];
  #bestSince = 0;

  get slots(): number {
    return this.#slots;
  }

  /** Whether a recent check was late, so that waiting work may wait for long. */
  isLate(now: number): boolean {
    return now - this.#lateAt < calmMs;
  }

  look(measured: Measurements, now: number): void {
    const lateness = this.#lateness(measured, now);
    if (measured.reached) this.#reachedAt = now;
    this.#late = lateness > 1 ? this.#late + 1 : 0;
    if (this.#late > 1 || lateness > 4) {
      this.#lateAt = now;
      this.#slots = Math.max(leastSlots, this.#slots * Math.max(0.75, 1 / lateness));
    } else if (measured.reached && lateness < 0.8) {
      this.#slots += Math.max(0.5, this.#slots * 0.05);
    } else if (now - this.#reachedAt >= calmMs) {
      this.#slots = usualSlots;
    }
  }

  /** The delay divided by the accepted delay: above 1 is too late. */
  #lateness({ lateMs, tookMs, stalledMs }: Measurements, now: number): number {
    if (now - this.#bestSince > bestMs) {
      this.#best = [Number.POSITIVE_INFINITY, this.#best[0]];
      this.#bestSince = now;
    }
    this.#best[0] = Math.min(this.#best[0], ...tookMs);
    const best = Math.min(...this.#best);
    const target = Math.max(workTargetMs, Number.isFinite(best) ? atBest * best : 0);
    // No work ended: the database may not answer at all.
    const took = tookMs.length === 0 ? stalledMs : middle(tookMs);
    return Math.max(lateMs / lateTargetMs, took / target);
  }
}

const middle = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
