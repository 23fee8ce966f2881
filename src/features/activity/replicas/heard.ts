import { ringSize } from "../../../core/activity/bus.ts";

/** The numbered events that were heard of one other process. */
export class Heard {
  /** All events up to this number were received, or are gone. */
  upTo = 0;
  /** Whether all events that existed when the first watcher came were received: an event missing after that was lost. */
  isComplete = false;
  /** The received events after a missing one. */
  readonly #ahead = new Set<number>();
  /** Whether something is missing that may still come. */
  get isMissing(): boolean {
    return this.#ahead.size > 0;
  }

  /** Answers whether the event is new. */
  add(number: number): boolean {
    if (number <= this.upTo || this.#ahead.has(number)) return false;
    this.#ahead.add(number);
    this.#close();
    // Older events have left every ring.
    if (this.#ahead.size > ringSize) this.skip(Math.min(...this.#ahead) - 1);
    return true;
  }

  /** Counts the events up to a number as gone. Returns how many of them were never received. */
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
