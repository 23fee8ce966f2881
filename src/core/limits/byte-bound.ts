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
  readonly #held = new Map<string | undefined, number>();
  #size = 0;

  constructor(limits: Limits, refusal: () => Error) {
    this.#limits = limits;
    this.#refusal = refusal;
  }

  begin(owner?: string): IncomingBytes {
    let length = 0;
    return {
      grow: (bytes) => {
        length += bytes;
        const ofOwner = this.#count(owner, bytes);
        const { most, mostOfOne } = this.#limits;
        if (length <= always || (this.#size <= most && ofOwner <= mostOfOne)) return;
        throw this.#refusal();
      },
      end: () => {
        this.#count(owner, -length);
        length = 0;
      },
    };
  }

  /** Returns the bytes that the owner holds now. */
  #count(owner: string | undefined, change: number): number {
    this.#size += change;
    const held = (this.#held.get(owner) ?? 0) + change;
    if (held === 0) this.#held.delete(owner);
    else this.#held.set(owner, held);
    return held;
  }
}
