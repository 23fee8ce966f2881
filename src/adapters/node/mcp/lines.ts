/** What one answer may have, as it comes over the wire; pictures that nobody will see count too. */
export const mostWireBytes = 4 * 1024 * 1024;
/** Levels of one message: far more than anything of use has, and far fewer than would exhaust time or stack. */
export const deepestMessage = 500;

/** Cuts what comes in pieces into lines, in a time that grows with their length and nothing else. */
export class Lines {
  readonly #decoder = new TextDecoder();
  #rest = "";

  /** The length of the line that is not whole yet. */
  get pending(): number {
    return this.#rest.length;
  }

  /** The lines that are whole now, without their ends. */
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
