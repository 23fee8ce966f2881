import { ringSize } from "../../../core/activity/bus.ts";

/** The numbers of the events received from another process. */
export class Heard {
  /** All events up to this number were received or no longer exist. */
  upTo = 0;
  /** Whether all events from before the first watcher were received. If one is missing after that, it was lost. */
  isComplete = false;
  /** The received events that come after a missing one. */
  readonly #ahead = new Set<number>();
  /** Whether an event is missing that may still arrive. */
  get isMissing(): boolean {
    return this.#ahead.size > 0;
  }

  /** Adds an event; returns whether it is new. */
  add(number: number): boolean {
    if (number <= this.upTo || this.#ahead.has(number)) return false;
    this.#ahead.add(number);
    this.#close();
    // Older events have left every ring.
    if (this.#ahead.size > ringSize) this.skip(Math.min(...this.#ahead) - 1);
    return true;
  }

  /** Counts the events up to a number as lost. Returns how many of them were never received. */
  skip(number: number): number {
    let missed = Math.max(0, number - this.upTo);
    for (const heard of this.#ahead) {
      if (heard > number) continue;
      this.#ahead.delete(heard);
      missed -= 1;
    }
    this.upTo = Math.max(this.upTo, number);
    this.#close();
    return missed;
  }

  #close(): void {
    while (this.#ahead.delete(this.upTo + 1)) this.upTo += 1;
  }
}
