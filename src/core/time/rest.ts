import type { Clock } from "../ports.ts";

/** A rest by the process's clock. It gets no longer when the system's time is set back meanwhile. */
export class Rest {
  readonly #clock: Clock;
  #ms = 0;
  #until = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Begins a rest of so many milliseconds in place of the former one; one of `Infinity` lasts until the next one begins. */
  begin(ms: number, since = this.#clock.now()): void {
    this.#ms = ms;
    this.#until = since + ms;
  }

  get isEndless(): boolean {
    return this.#ms === Number.POSITIVE_INFINITY;
  }

  get isOver(): boolean {
    const left = this.#until - this.#clock.now();
    return left <= 0 || left > this.#ms;
  }
}
