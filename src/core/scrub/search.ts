import type { Automaton } from "./automaton.ts";

export interface Span {
  start: number;
  end: number;
}

/** After how many characters the search checks whether the automaton is full. */
const stride = 1 << 16;

/** Finds the needles of an automaton in a text that arrives in pieces. */
export class Search {
  #automaton: Automaton;
  #state = 0;

  constructor(automaton: Automaton) {
    this.#automaton = automaton;
  }

  /** How many of the last characters may begin a needle. */
  get begun(): number {
    return this.#automaton.depth(this.#state);
  }

  /**
   * Calls `found` with the longest needle that ends at each character. `start` is negative if the needle begins in an
   * earlier piece.
   */
  push(piece: string, found: (start: number, end: number) => void): void {
    for (let from = 0; from < piece.length; from += stride) {
      if (this.#automaton.full)
        ({ automaton: this.#automaton, state: this.#state } = this.#automaton.renewed(this.#state));
      this.#pass(piece, from, Math.min(piece.length, from + stride), found);
    }
  }

  #pass(piece: string, from: number, to: number, found: (start: number, end: number) => void): void {
    const automaton = this.#automaton;
    // Not for the last two characters of a piece: `mayBegin` reads three.
    const nothingBegins = (index: number) => index + 2 < piece.length && !automaton.mayBegin(piece, index);
    let state = this.#state;
    for (let index = from; index < to; index += 1) {
      if (state === 0 && nothingBegins(index)) continue;
      state = automaton.next(state, piece.charCodeAt(index));
      const length = automaton.longestEndingAt(state);
      if (length > 0) found(index + 1 - length, index + 1);
      else if (automaton.depth(state) === 1 && nothingBegins(index)) state = 0;
    }
    this.#state = state;
  }
}
