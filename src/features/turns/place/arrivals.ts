/**
 * Lets the calls of one conversation ask for their places one after the other: side by side, two statements would race
 * to the database on two connections. Calls of other conversations wait for nothing.
 */
export class Arrivals {
  /** The last call of each conversation that is asking; it never rejects. */
  readonly #last = new Map<string, Promise<unknown>>();

  /** Does `work` once all earlier works of the conversation `ref` have settled. Answers, or rejects, as `work` does. */
  inOrder<T>(ref: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(ref);
    const done = before ? before.then(work) : work();
    const settled: Promise<unknown> = done
      .catch(() => {})
      .finally(() => {
        if (this.#last.get(ref) === settled) this.#last.delete(ref);
      });
    this.#last.set(ref, settled);
    return done;
  }

  /** The number of conversations with calls that are asking. */
  get size(): number {
    return this.#last.size;
  }
}
