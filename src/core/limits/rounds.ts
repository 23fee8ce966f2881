/**
 * Work that is done in rounds, one at a time. A caller during a round gets another one, since the round may have
 * passed over already what the caller wants it to see.
 */
export class Rounds {
  readonly #round: () => Promise<void>;
  #wanted = false;
  #running: Promise<void> | null = null;

  constructor(round: () => Promise<void>) {
    this.#round = round;
  }

  /**
   * Resolves when no further round is needed. Rejects with a round's error; the remaining work waits for the next call.
   */
  run(): Promise<void> {
    this.#wanted = true;
    this.#running ??= this.#runWhileWanted();
    return this.#running;
  }

  /** Starts another round after the one that calls this. */
  again(): void {
    this.#wanted = true;
  }

  /** Resolves when no round runs, however the last one ended. */
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
