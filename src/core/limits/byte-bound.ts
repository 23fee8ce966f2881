import { Tally } from "./tally.ts";

/** One body that is being received. */
export interface IncomingBytes {
  /** Counts further bytes; throws the refusal when large bodies already hold too much. */
  grow(bytes: number): void;
  /** Ends the count: the body is complete, or given up. */
  end(): void;
}

export interface Limits {
  most: number;
  /** The limit for one owner, so that unfinished bodies of one owner leave room for other owners. */
  mostOfOne: number;
}

/** The bytes that one body may always have: nearly all bodies are smaller. */
const always = 64 * 1024;

/**
 * Counts the bytes of incomplete bodies that a process holds. Each body has its own limit, but many arrive at a time,
 * and their senders decide how long they stay incomplete.
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
