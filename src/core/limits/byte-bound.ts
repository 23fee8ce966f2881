import { Tally } from "./tally.ts";

/** One body or answer whose bytes come in. */
export interface IncomingBytes {
  /** Counts further bytes of it; throws the refusal when large ones hold too much already. */
  grow(bytes: number): void;
  /** It is whole, or given up. */
  end(): void;
}

export interface Limits {
  most: number;
  /** The limit for one owner, so that unfinished bodies of one owner leave room for other owners. */
  mostOfOne: number;
}

/** So many bytes of one may come in whatever others hold: nearly all bodies and answers are smaller. */
const always = 64 * 1024;

/**
 * Counts the bytes that a process holds of bodies or answers that are not whole yet. Each of them has a limit of its own,
 * but many come at a time, and their senders decide how long they stay unfinished.
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
