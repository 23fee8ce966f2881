import { EgressError } from "./target.ts";

const mebibyte = 1024 * 1024;

/** An answer may be so large whatever others hold, in bytes: nearly all are smaller. */
const always = mebibyte / 16;

/** One answer whose bytes come in. */
export interface Incoming {
  /** Counts further bytes of it; throws an `EgressError` when large answers hold too much already. */
  grow(bytes: number): void;
  /** It is whole, or given up. */
  end(): void;
}

/**
 * How much a process holds of answers to tools that are not whole yet, in bytes. Each has a limit of its own, but a turn
 * may wait for 64 of them, and hosts decide how long they stay unfinished.
 */
export class Unfinished {
  readonly #most: number;
  #held = 0;

  constructor(most = 128 * mebibyte) {
    this.#most = most;
  }

  begin(): Incoming {
    let length = 0;
    return {
      grow: (bytes) => {
        length += bytes;
        this.#held += bytes;
        if (length <= always || this.#held <= this.#most) return;
        throw new EgressError("Too many large answers come in at the same time: ask again later, or for less");
      },
      end: () => {
        this.#held -= length;
        length = 0;
      },
    };
  }
}
