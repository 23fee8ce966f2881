/** The most bytes of one answer on the wire; pictures count too, though no model sees them. */
export const mostWireBytes = 4 * 1024 * 1024;
/** The most levels of one message: far more than a useful one has, and far fewer than would exhaust time or stack. */
export const deepestMessage = 500;

/** Splits chunks of bytes into lines, in a time that is linear in their length. */
export class Lines {
  readonly #decoder = new TextDecoder();
  #rest = "";

  /** The length of the last line, whose end has not come yet. */
  get pending(): number {
    return this.#rest.length;
  }

  /** The lines that the chunk completes, without their ends. */
  push(chunk: Uint8Array): string[] {
    const pieces = this.#decoder.decode(chunk, { stream: true }).split("\n");
    const last = pieces.pop() ?? "";
    if (pieces.length === 0) {
      this.#rest += last;
      return [];
    }
    pieces[0] = this.#rest + pieces[0];
    this.#rest = last;
    return pieces.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
  }
}
