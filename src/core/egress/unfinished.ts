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

interface Limits {
  most: number;
  /** Of one owner: others find room, however many hosts of its choice never finish. */
  mostOfOne: number;
}

/**
 * How much a process holds of answers to tools that are not whole yet, in bytes. Each has a limit of its own, but a turn
 * may wait for 64 of them, and hosts decide how long they stay unfinished.
 */
export class Unfinished {
  readonly #limits: Limits;
  readonly #held = new Map<string | undefined, number>();
  #size = 0;

  constructor(limits: Limits = { most: 128 * mebibyte, mostOfOne: 96 * mebibyte }) {
    this.#limits = limits;
  }

  begin(owner?: string): Incoming {
    let length = 0;
    return {
      grow: (bytes) => {
        length += bytes;
        const ofOwner = this.#count(owner, bytes);
        const { most, mostOfOne } = this.#limits;
        if (length <= always || (this.#size <= most && ofOwner <= mostOfOne)) return;
        throw new EgressError("Too many large answers come in at the same time: ask again later, or for less");
      },
      end: () => {
        this.#count(owner, -length);
        length = 0;
      },
    };
  }

  /** Answers what the owner holds now. */
  #count(owner: string | undefined, change: number): number {
    this.#size += change;
    const held = (this.#held.get(owner) ?? 0) + change;
    if (held === 0) this.#held.delete(owner);
    else this.#held.set(owner, held);
    return held;
  }
}
