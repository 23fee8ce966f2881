import { FairQueue } from "../../../core/queues/fair-queue.ts";

/** How many files are held in memory at a time. */
const mostAtOnce = 6;

interface Waiting {
  owner: string;
  go(): void;
}

/** Bounds how many files of messages this process loads at a time; agents take turns. */
export class Downloads {
  readonly #waiting = new FairQueue<Waiting>();
  #running = 0;

  /** Runs `load` when its turn comes; rejects with the signal's reason when that aborts before. */
  async run<T>(owner: string, signal: AbortSignal, load: () => Promise<T>): Promise<T> {
    await this.#turn(owner, signal);
    try {
      return await load();
    } finally {
      this.#running -= 1;
      this.#next();
    }
  }

  #next(): void {
    while (this.#running < mostAtOnce) {
      const next = this.#waiting.take(() => true);
      if (!next) return;
      this.#running += 1;
      next.go();
    }
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
