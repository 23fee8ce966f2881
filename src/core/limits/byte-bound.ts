import { Tally } from "./tally.ts";

/** One body that is being received. */
export interface IncomingBytes {
  /** Counts further bytes; throws the refusal when unfinished bodies hold too much memory. */
  grow(bytes: number): void;
  /** Ends the count: the body is complete, or given up. */
  end(): void;
}

export interface Limits {
  most: number;
  /** The limit of one owner, so that one owner's unfinished bodies leave memory for those of others. */
  mostOfOne: number;
}

/** The size that any body may have, whatever the count: nearly all bodies are smaller. */
const always = 64 * 1024;

/**
 * Bounds the memory of unfinished bodies in this process. Each body has its own limit, but many arrive at a time, and
 * their senders decide how long they stay unfinished.
 */
export class ByteBound {
  readonly #limits: Limits;
  readonly #refusal: () => Error;
  readonly #held = new Tally();

  constructor(limits: Limits, refusal: () => Error) {
    this.#limits = limits;
    this.#refusal = refusal;
  }

  begin(owner?: string): IncomingBytes {
    let length = 0;
    return {
      grow: (bytes) => {
        length += bytes;
        this.#held.add(owner, bytes);
        const { most, mostOfOne } = this.#limits;
        if (length <= always || (this.#held.sum <= most && this.#held.of(owner) <= mostOfOne)) return;
        throw this.#refusal();
      },
      end: () => {
        this.#held.add(owner, -length);
        length = 0;
      },
    };
  }
}
