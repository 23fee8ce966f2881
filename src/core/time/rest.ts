import type { Clock } from "../ports.ts";

/** A pause by the process's clock. It does not become longer when the clock is set back. */
export class Rest {
  readonly #clock: Clock;
  #ms = 0;
  #until = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Begins a pause of this many milliseconds, in place of the former one. `Infinity` lasts until another pause begins. */
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
