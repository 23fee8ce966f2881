import { FairQueue } from "./fair-queue.ts";
import { Tally } from "./tally.ts";

interface Waiter {
  owner: string | undefined;
  permits: number;
  begin(): void;
  fail(reason: unknown): void;
}

/** Numbers of permits. Work takes one permit unless it says otherwise. */
interface Limits {
  /** The most permits at a time. A function is called each time, and may return a changed limit. */
  most: number | (() => number);
  /** The most permits of one owner at a time; absent: as `most`. */
  mostOfOne?: number;
}

/**
 * Bounds how much work of one kind this process does at a time. Owners with waiting work take turns. Nothing is
 * refused: a caller that bounds its waiting work reads `waiting` first.
 */
export class Semaphore {
  readonly #most: () => number;
  readonly #mostOfOne: number;
  readonly #queue = new FairQueue<Waiter>();
  readonly #taken = new Tally();

  constructor({ most, mostOfOne = Number.POSITIVE_INFINITY }: Limits) {
    this.#most = typeof most === "number" ? () => most : most;
    this.#mostOfOne = mostOfOne;
  }

  /** The permits that running work holds. */
  get taken(): number {
    return this.#taken.sum;
  }

  /** The pieces of work that wait. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Does the work when its turn comes; rejects with the signal's reason when that aborts before. */
  async run<T>(owner: string | undefined, signal: AbortSignal, work: () => Promise<T>, permits = 1): Promise<T> {
    const release = await this.enter(owner, signal, permits);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Takes permits when it is the owner's turn, as `run` does. The returned function gives them back; call it once. */
  async enter(owner: string | undefined, signal: AbortSignal, permits = 1): Promise<() => void> {
    await this.#turn(owner, signal, permits);
    return () => {
      this.#taken.add(owner, -permits);
      this.admit();
    };
  }

  /** Starts waiting work as far as the limits allow. Call it after a limit grew. */
  admit(): void {
    while (this.#taken.sum < this.#most()) {
      const next = this.#queue.take((owner) => this.#taken.of(owner) < this.#mostOfOne);
      if (!next) return;
      this.#taken.add(next.owner, next.permits);
      next.begin();
    }
  }

  /** Rejects all work that waits. */
  rejectWaiting(reason: unknown): void {
    for (let one = this.#queue.take(() => true); one; one = this.#queue.take(() => true)) one.fail(reason);
  }

  #turn(owner: string | undefined, signal: AbortSignal, permits: number): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const onAbort = () => {
        if (this.#queue.remove(waiter)) reject(signal.reason);
      };
      const settled =
        <Value>(settle: (value: Value) => void) =>
        (value: Value) => {
          signal.removeEventListener("abort", onAbort);
          settle(value);
        };
      const waiter: Waiter = { owner, permits, begin: settled(resolve), fail: settled(reject) };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#queue.add(waiter);
      this.admit();
    });
  }
}
