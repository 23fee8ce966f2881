import type { Automaton } from "./automaton.ts";
import type { FollowedNeedles, LongNeedles } from "./long-needles.ts";

export interface Span {
  start: number;
  end: number;
}

/** Finds the needles of an automaton in a text that comes in pieces. */
export class Search {
  readonly #automaton: Automaton;
  #state = 0;
  /** Those of which as much has come as the automaton knows, or more. */
  readonly #long = new Map<LongNeedles, FollowedNeedles>();

  constructor(automaton: Automaton) {
    this.#automaton = automaton;
  }

  /** How many of the last characters may be the beginning of a needle. */
  get begun(): number {
    let begun = this.#automaton.depth(this.#state);
    for (const followed of this.#long.values()) begun = Math.max(begun, followed.begun);
    return begun;
  }

  /** Calls `found` with the longest needle that ends at each character, if one does; `start` may be before the piece. */
  push(piece: string, found: (span: Span) => void): void {
    for (let index = 0; index < piece.length; index += 1) {
      if (this.#state === 0 && this.#nothingBegins(piece, index)) continue;
      const length = this.#step(piece.charCodeAt(index));
      if (length > 0) found({ start: index + 1 - length, end: index + 1 });
      else if (this.#automaton.depth(this.#state) === 1 && this.#nothingBegins(piece, index)) this.#state = 0;
    }
  }

  /** The last two characters of a piece can't tell. */
  #nothingBegins(piece: string, index: number): boolean {
    return this.#long.size === 0 && index + 2 < piece.length && !this.#automaton.mayBegin(piece, index);
  }

  #step(code: number): number {
    const automaton = this.#automaton;
    this.#state = automaton.next(this.#state, code);
    const short = automaton.longestEndingAt(this.#state);
    const longest = this.#long.size === 0 ? short : Math.max(short, this.#follow(code));
    const long = automaton.longAt(this.#state);
    if (long) this.#begin(long);
    return longest;
  }

  #begin(long: LongNeedles): void {
    const followed = this.#long.get(long);
    if (followed) followed.restart();
    else this.#long.set(long, long.follow());
  }

  /** The length of the longest of those followed that ends here; 0 when none does. */
  #follow(code: number): number {
    let longest = 0;
    for (const [long, followed] of this.#long) {
      longest = Math.max(longest, followed.next(code));
      if (followed.begun === 0) this.#long.delete(long);
    }
    return longest;
  }
}
