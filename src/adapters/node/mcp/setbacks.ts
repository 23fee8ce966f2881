import type { Clock } from "../../../core/ports.ts";

interface Setback {
  /** The number of failures in a row. */
  times: number;
  until: number;
  reason: string;
}

const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

/** The servers that failed recently. A server may be tried again at once after its first failure, then less often. */
export class Setbacks {
  readonly #clock: Clock;
  readonly #known = new Map<string, Setback>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(id: string, reason: string): void {
    const times = (this.#known.get(id)?.times ?? 0) + 1;
    const pause = times === 1 ? 0 : Math.min(firstPauseMs * 2 ** (times - 2), longestPauseMs);
    this.#known.set(id, { times, until: this.#clock.now() + pause, reason });
  }

  forget(id: string): void {
    this.#known.delete(id);
  }

  /** Throws while it is too early to try the server again. */
  requireOver(id: string): void {
    const { times = 0, until = 0, reason = "" } = this.#known.get(id) ?? {};
    const left = until - this.#clock.now();
    if (left <= 0) return;
    const seconds = Math.ceil(left / 1000);
    throw new Error(`The server failed ${times} times in a row and is tried again in ${seconds} s; last: ${reason}`);
  }
}
