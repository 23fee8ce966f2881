/** What was seen since the last look. */
export interface Seen {
  /** How late the event loop is, in milliseconds. */
  lateMs: number;
  /** How long each piece of work took that ended, in milliseconds. */
  tookMs: readonly number[];
  /** For how long there has been work and none of it ended, in milliseconds. */
  stalledMs: number;
  /** Whether somebody had to wait or was refused. */
  reached: boolean;
}

/** So much work may always go on, whatever is seen: nothing can be learned from none. */
export const leastPlaces = 8;

/** The limit begins with so many, and returns to them when all is calm. */
const usualPlaces = 32;

/** The event loop may be so late: turns, tokens and refusals all wait as long, a few times each. */
const lateTargetMs = 15;

/** Work may take so long, or twice as long as it takes at best where the database is far away. */
const workTargetMs = 100;
const atBest = 2;

/** What is best is forgotten after one to two of these, in milliseconds. */
const bestMs = 5 * 60_000;

/** Nobody waited, or nothing was late, for so long: all is calm, in milliseconds. */
const calmMs = 1_000;

/**
 * How much work may go on at a time. While the event loop or the work itself is late, the limit shrinks in proportion; it
 * grows step by step while nothing is late and somebody waits.
 */
export class AdaptiveLimit {
  #places = usualPlaces;
  /** How often it was late in a row: once may be a pause, such as a garbage collection. */
  #late = 0;
  #lateAt = Number.NEGATIVE_INFINITY;
  #reachedAt = Number.NEGATIVE_INFINITY;
  #best = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY] as [number, number];
  #bestSince = 0;

  get places(): number {
    return this.#places;
  }

  /** Whether it was late a moment ago: those who wait may have to wait for long. */
  isLate(now: number): boolean {
    return now - this.#lateAt < calmMs;
  }

  look(seen: Seen, now: number): void {
    const lateness = this.#lateness(seen, now);
    if (seen.reached) this.#reachedAt = now;
    this.#late = lateness > 1 ? this.#late + 1 : 0;
    if (this.#late > 1 || lateness > 4) {
      this.#lateAt = now;
      this.#places = Math.max(leastPlaces, this.#places * Math.max(0.75, 1 / lateness));
    } else if (seen.reached && lateness < 0.8) {
      this.#places += Math.max(0.5, this.#places * 0.05);
    } else if (now - this.#reachedAt >= calmMs) {
      this.#places = usualPlaces;
    }
  }

  /** Over 1: too late. */
  #lateness({ lateMs, tookMs, stalledMs }: Seen, now: number): number {
    if (now - this.#bestSince > bestMs) {
      this.#best = [Number.POSITIVE_INFINITY, this.#best[0]];
      this.#bestSince = now;
    }
    this.#best[0] = Math.min(this.#best[0], ...tookMs);
    const best = Math.min(...this.#best);
    const target = Math.max(workTargetMs, Number.isFinite(best) ? atBest * best : 0);
    // Where nothing ended, the database may not answer at all.
    const took = tookMs.length === 0 ? stalledMs : middle(tookMs);
    return Math.max(lateMs / lateTargetMs, took / target);
  }
}

const middle = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
