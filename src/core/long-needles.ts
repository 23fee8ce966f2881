/** How much of a needle the automaton knows; the rest is compared with the needle itself. */
export const knownStart = 32;

/** Needles that are longer than what the automaton knows, and the same as far as it knows them. */
export class LongNeedles {
  readonly #texts: string[] = [];
  /** Made when a text first begins like them: most are never met. */
  #followable: FollowableNeedle[] | null = null;

  add(text: string): void {
    this.#texts.push(text);
  }

  /** To be called where their start was met. */
  follow(): FollowedNeedles {
    this.#followable ??= this.#texts.map(followable);
    return new FollowedNeedles(this.#followable);
  }
}

interface FollowableNeedle {
  codes: Uint16Array;
  /** For each prefix, by its last character: the length of its longest proper end that is a prefix too. */
  borders: Uint32Array;
}

/**
 * Follows a text through long needles, in linear time whatever the text repeats (Knuth, Morris and Pratt, "Fast pattern
 * matching in strings", 1977).
 */
export class FollowedNeedles {
  readonly #needles: readonly FollowableNeedle[];
  /** How much of each ends at the last character; 0 when the automaton knows it as well. */
  readonly #matched: Uint32Array;
  #begun = knownStart;

  constructor(needles: readonly FollowableNeedle[]) {
    this.#needles = needles;
    this.#matched = new Uint32Array(needles.length).fill(knownStart);
  }

  /** How much of any of them ends at the last character; 0 when there is nothing to follow any longer. */
  get begun(): number {
    return this.#begun;
  }

  /** Their start was met once more. */
  restart(): void {
    const matched = this.#matched;
    for (let index = 0; index < matched.length; index += 1) if (matched[index] === 0) matched[index] = knownStart;
    this.#begun = Math.max(this.#begun, knownStart);
  }

  /** The length of the longest that ends with this character; 0 when none does. */
  next(code: number): number {
    let longest = 0;
    this.#begun = 0;
    for (let index = 0; index < this.#needles.length; index += 1) {
      const needle = this.#needles[index];
      const matched = this.#matched[index] ?? 0;
      if (!needle || matched === 0) continue;
      const length = advance(needle, matched, code);
      this.#matched[index] = length < knownStart ? 0 : length;
      if (length >= knownStart && length > this.#begun) this.#begun = length;
      if (length === needle.codes.length && length > longest) longest = length;
    }
    return longest;
  }
}

function advance({ codes, borders }: FollowableNeedle, matched: number, code: number): number {
  let length = matched;
  // Behind the last character there is none, which equals nothing.
  while (length > 0 && codes[length] !== code) length = borders[length - 1] ?? 0;
  return codes[length] === code ? length + 1 : 0;
}

function followable(text: string): FollowableNeedle {
  const codes = new Uint16Array(text.length);
  for (let index = 0; index < text.length; index += 1) codes[index] = text.charCodeAt(index);
  const borders = new Uint32Array(text.length);
  const needle = { codes, borders };
  let length = 0;
  for (let index = 1; index < codes.length; index += 1) {
    length = advance(needle, length, codes[index] ?? 0);
    borders[index] = length;
  }
  return needle;
}
