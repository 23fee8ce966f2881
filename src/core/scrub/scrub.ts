import { Automaton } from "./automaton.ts";
import { encodedForms, lineForms } from "./encoded-forms.ts";
import { Search, type Span } from "./search.ts";

/** The most lines of a secret. A key's lines have 64 characters; the longest allowed key has this many lines. */
const mostLines = 128;

/**
 * Matches the line breaks of a secret. A key may write them as `\n`, which in other values are two plain characters.
 */
const breaksOf = (value: string) => (value.includes("-----BEGIN ") ? /\r?\n|\r|(?:\\r)?\\n|\\r/g : /\r?\n|\r/g);

/** The forms in which a whole secret is searched for: without blanks around it, and also with Unix line breaks. */
function secretTexts(value: string): Set<string> {
  const whole = value.trim();
  return new Set([whole, whole.replaceAll(breaksOf(whole), "\n").trim()]);
}

/** The lines of a value that would reveal a part of it: at most `mostLines`, the longest ones. */
export function secretLines(value: string): string[] {
  const lines = value.split(breaksOf(value)).map((line) => line.trim());
  const secret = lines.filter((line) => line !== "" && !boundary.test(line));
  return secret.length <= mostLines ? secret : secret.sort((a, b) => b.length - a.length).slice(0, mostLines);
}

/** Matches the first and the last line of a key, which all keys share. */
const boundary = /^-+ ?(?:BEGIN|END) [\w ]+-+$/;

/** The text that replaces a secret. */
export const scrubbed = "[secret]";

/** The length of the shortest secret: scrubbing shorter values would replace ordinary words. */
export const shortestSecret = 6;
const isLongEnough = (text: string) => text.length >= shortestSecret;

/** Why a value can't be stored as a secret; null when it can. */
export function shortSecretProblem(value: string): string | null {
  if (isLongEnough(value.trim())) return null;
  return `must have at least ${shortestSecret} characters: a shorter secret can't be kept out of replies without ruining them`;
}

/** Shorter beginnings of a secret are not held back: they reveal nothing, and every second delta ends with one. */
const leastHeldBack = 3;

/** Replaces known secrets in a text. */
export interface Scrub {
  (text: string): string;
  /** Scrubs a text that arrives in pieces; a secret may lie across several of them. */
  stream(): ScrubStream;
}

/** Loads a scrubber when a text needs one. */
export type LoadScrub = () => Promise<Scrub>;

export interface ScrubStream {
  /**
   * Adds a piece, and returns the scrubbed text that is final by now; an end that may begin a secret is held back. The
   * first two characters of a secret that is split over two pieces may be returned.
   */
  push(piece: string): string;
  /** Returns the text that was held back. If a secret begins in it, later pieces lose the rest of that secret. */
  flush(): string;
}

const identity: ScrubStream = { push: (piece) => piece, flush: () => "" };

/** Makes a scrubber for the given values and each of their lines, wherever they occur in a text, even encoded. */
export function scrubber(values: Iterable<string>): Scrub {
  const secrets = [...values].filter((value) => isLongEnough(value.trim()));
  if (secrets.length === 0) return Object.assign((text: string) => text, { stream: () => identity });
  let automaton: Automaton | null = null;
  const stream = () => {
    // The automaton is built when first used, since many scrubbers are made for errors that never happen.
    automaton ??= Automaton.of(needles(secrets));
    if (automaton.full) ({ automaton } = automaton.renewed(0));
    return new KnownSecrets(automaton);
  };
  const whole = (text: string) => {
    if (!isLongEnough(text)) return text;
    const pieces = stream();
    return pieces.push(text) + pieces.flush();
  };
  return Object.assign(whole, { stream });
}

function* needles(values: readonly string[]): Generator<string> {
  for (const value of values) {
    const texts = secretTexts(value);
    const lines = secretLines(value).filter((line) => !texts.has(line));
    for (const text of texts) if (isLongEnough(text)) yield* [...encodedForms(text)].filter(isLongEnough);
    for (const line of lines) if (isLongEnough(line)) yield* [...lineForms(line)].filter(isLongEnough);
  }
}

class KnownSecrets implements ScrubStream {
  readonly #search: Search;
  /** The text that was not returned yet. */
  #held = "";
  /** The secrets in `#held`, which do not overlap. */
  #found: Span[] = [];
  readonly #find = (start: number, end: number) => {
    const offset = this.#held.length;
    this.#note(Math.max(0, offset + start), offset + end);
  };

  constructor(automaton: Automaton) {
    this.#search = new Search(automaton);
  }

  push(piece: string): string {
    this.#search.push(piece, this.#find);
    this.#held += piece;
    return this.#release(this.#final());
  }

  flush(): string {
    return this.#release(this.#held.length);
  }

  /** How many characters of `#held` are final, whichever piece comes next. */
  #final(): number {
    const { length } = this.#held;
    const { begun } = this.#search;
    let final = Math.max(0, begun < leastHeldBack ? length : length - begun);
    // A secret that ends there may still overlap the next one.
    const last = this.#found.at(-1);
    if (last?.end === final) final = last.start;
    const cut = this.#found.find(({ end }) => end > final);
    return cut ? Math.min(final, cut.start) : final;
  }

  #note(from: number, end: number): void {
    let start = from;
    for (let last = this.#found.at(-1); last && last.end > start; last = this.#found.at(-1)) {
      start = Math.min(start, last.start);
      this.#found.pop();
    }
    this.#found.push({ start, end });
  }

  /** Removes this many characters from `#held` and returns them scrubbed. */
  #release(length: number): string {
    if (length === 0) return "";
    const text = this.#held;
    let clean = "";
    let from = 0;
    let spans = 0;
    for (const { start, end } of this.#found) {
      if (end > length) break;
      clean += text.slice(from, start) + scrubbed;
      from = end;
      spans += 1;
    }
    this.#held = text.slice(length);
    if (this.#found.length > 0)
      this.#found = this.#found.slice(spans).map(({ start, end }) => ({ start: start - length, end: end - length }));
    return clean + text.slice(from, length);
  }
}
