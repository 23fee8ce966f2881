const sliceMs = 8;

/** Interrupts long work, so that the process can do other work, and ends it after an abort or when it takes too long. */
export class Pace {
  readonly #signal: AbortSignal;
  readonly #end: number;
  #since = performance.now();

  constructor(signal: AbortSignal, limitMs: number) {
    this.#signal = signal;
    this.#end = this.#since + limitMs;
  }

  /** Called between small pieces of work. Throws when the work must end. */
  async breathe(): Promise<void> {
    const now = performance.now();
    if (now - this.#since < sliceMs) return;
    if (now > this.#end) throw new Error("Making the PDF takes too long: shorten the document or split it");
    await new Promise((resolve) => setTimeout(resolve));
    this.#signal.throwIfAborted();
    this.#since = performance.now();
  }
}
