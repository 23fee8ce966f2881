/** Runs a few calls at a time, in the order of arrival, since each needs much memory. */
export class Places {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Runs `work` when its turn comes; rejects when `signal` aborts before. */
  async use<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#take(signal);
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }

  #take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(signal.reason);
      };
      const enter = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      this.#waiting.push(enter);
      signal.addEventListener("abort", leave, { once: true });
    });
  }
}
