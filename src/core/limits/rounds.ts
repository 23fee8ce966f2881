/**
 * Work that is done in rounds, one at a time. A call during a round starts another round afterwards, since the current
 * one may already have passed what the caller wants done.
 */
export class Rounds {
  readonly #round: () => Promise<void>;
  #wanted = false;
  #running: Promise<void> | null = null;

  constructor(round: () => Promise<void>) {
    this.#round = round;
  }

  /** Resolves when no further round is needed. Rejects with a round's error; the next call does the remaining work. */
  run(): Promise<void> {
    this.#wanted = true;
    this.#running ??= this.#runWhileWanted();
    return this.#running;
  }

  /** Asks for another round after the current one. */
  again(): void {
    this.#wanted = true;
  }

  /** Resolves when no round runs, even if the last one failed. */
  async ended(): Promise<void> {
    await this.#running?.catch(() => {});
  }

  async #runWhileWanted(): Promise<void> {
    try {
      while (this.#wanted) {
        this.#wanted = false;
        await this.#round();
      }
    } finally {
      this.#running = null;
    }
  }
}
