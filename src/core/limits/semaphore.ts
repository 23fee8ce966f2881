import { FairQueue } from "./fair-queue.ts";

interface Waiting {
  owner: string;
  size: number;
  go(): void;
}

interface Limits {
  /** The size of the work that runs at a time: while less runs, one more piece begins. */
  most: number;
  /** The same of one owner, where that is less. */
  mostOfOne?: number;
}

/**
 * Bounds how much of one kind of work this process does at a time. Owners take turns. Each piece has the size 1 unless told
 * otherwise.
 */
export class Semaphore {
  readonly #limits: Required<Limits>;
  readonly #waiting = new FairQueue<Waiting>();
  readonly #running = new Map<string | undefined, number>();
  #size = 0;

  constructor({ most, mostOfOne = most }: Limits) {
    this.#limits = { most, mostOfOne };
  }

  /** The size of all that runs. */
  get size(): number {
    return this.#size;
  }

  /** Does the work when its turn comes; rejects with the signal's reason when that aborts before. */
  async run<T>(owner: string, signal: AbortSignal, work: () => Promise<T>, size = 1): Promise<T> {
    await this.#turn(owner, size, signal);
    try {
      return await work();
    } finally {
      this.#count(owner, -size);
      this.#next();
    }
  }

  #next(): void {
    while (this.#size < this.#limits.most) {
      const next = this.#waiting.take((owner) => this.#of(owner) < this.#limits.mostOfOne);
      if (!next) return;
      this.#count(next.owner, next.size);
      next.go();
    }
  }

  #of(owner: string | undefined): number {
    return this.#running.get(owner) ?? 0;
  }

  #count(owner: string, change: number): void {
    this.#size += change;
    const running = this.#of(owner) + change;
    if (running === 0) this.#running.delete(owner);
    else this.#running.set(owner, running);
  }

  #turn(owner: string, size: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const onAbort = () => {
        if (this.#waiting.remove(waiting)) reject(signal.reason);
      };
      const go = () => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
      const waiting: Waiting = { owner, size, go };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiting.add(waiting);
      this.#next();
    });
  }
}
