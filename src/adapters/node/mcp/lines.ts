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
