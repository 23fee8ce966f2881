import { FairQueue } from "./fair-queue.ts";

interface Waiting {
  owner: string;
  go(): void;
}

interface Limits {
  /** How many pieces of work run at a time. */
  most: number;
  /** How many of one owner, where those are fewer. */
  mostOfOne?: number;
}

/** Bounds how much of one kind of work this process does at a time. Owners take turns. */
export class FairRunner {
  readonly #limits: Required<Limits>;
  readonly #waiting = new FairQueue<Waiting>();
  readonly #running = new Map<string | undefined, number>();
  #size = 0;

  constructor({ most, mostOfOne = most }: Limits) {
    this.#limits = { most, mostOfOne };
  }

  /** How many pieces run. */
  get size(): number {
    return this.#size;
  }

  /** Does the work when its turn comes; rejects with the signal's reason when that aborts before. */
  async run<T>(owner: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#turn(owner, signal);
    try {
      return await work();
    } finally {
      this.#count(owner, -1);
      this.#next();
    }
  }

  #next(): void {
    while (this.#size < this.#limits.most) {
      const next = this.#waiting.take((owner) => this.#of(owner) < this.#limits.mostOfOne);
      if (!next) return;
      this.#count(next.owner, 1);
      next.go();
    }
  }

  #of(owner: string | undefined): number {
    return this.#running.get(owner) ?? 0;
  }

  #count(owner: string, change: 1 | -1): void {
    this.#size += change;
    const running = this.#of(owner) + change;
    if (running === 0) this.#running.delete(owner);
    else this.#running.set(owner, running);
  }

  #turn(owner: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const onAbort = () => {
        if (this.#waiting.remove(waiting)) reject(signal.reason);
      };
      const go = () => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
      const waiting: Waiting = { owner, go };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiting.add(waiting);
      this.#next();
    });
  }
}
