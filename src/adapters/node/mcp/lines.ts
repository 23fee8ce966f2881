/** Splits chunks of bytes into lines, in linear time. */
export class Lines {
  readonly #decoder = new TextDecoder();
  #rest = "";

  /** The length of the last, incomplete line. */
  get pending(): number {
    return this.#rest.length;
  }

  /** Adds a chunk. Returns the lines that it completes, without line ends. */
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
