/** Pieces are joined when they have this length together, in UTF-16 units. */
const portionLength = 16 * 1024;

/**
 * A text made of small pieces. With `+=` the runtime stores each piece as a string until the text is read, in some six
 * times the memory of the text.
 */
export class GrowingText {
  #portions: string[] = [];
  #pieces: string[] = [];
  #length = 0;

  add(piece: string): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#length >= portionLength) this.#joinPieces();
  }

  get text(): string {
    this.#joinPieces();
    const text = this.#portions.join("");
    this.#portions = [text];
    return text;
  }

  #joinPieces(): void {
    this.#portions.push(this.#pieces.join(""));
    this.#pieces = [];
    this.#length = 0;
  }
}
