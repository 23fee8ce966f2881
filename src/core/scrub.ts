import { Automaton } from "./automaton.ts";
import { encodedForms, lineForms } from "./encoded-forms.ts";
import { Search, type Span } from "./search.ts";
import { secretLines, secretTexts } from "./secret-texts.ts";

/** What stands where a secret stood. */
export const scrubbed = "[secret]";

/** Shorter values would turn ordinary words into marks, and protect nothing that deserves the name of a secret. */
const shortest = 6;
const isTelling = (text: string) => text.length >= shortest;

/** So few characters of a secret tell nothing; held back, they would break up the text of every second delta. */
const tellingStart = 3;

/** Blots known secrets out of a text. */
export interface Scrub {
  (text: string): string;
  /** The same for a text that comes in pieces: a secret may lie across two of them. */
  stream(): ScrubStream;
}

export interface ScrubStream {
  /**
   * What can be said of the text so far; an end that may be the beginning of a secret is held back. Of a secret that
   * lies across two pieces, its first two characters may be said.
   */
  push(piece: string): string;
  /** What was held back. Of a secret that goes on after it, the rest is blotted out. */
  flush(): string;
}

const identity: ScrubStream = { push: (piece) => piece, flush: () => "" };

/** A function that blots out the given values, and each of their lines, wherever they occur in a text, also encoded. */
export function scrubber(values: Iterable<string>): Scrub {
  const telling = [...values].filter((value) => isTelling(value.trim()));
  if (telling.length === 0) return Object.assign((text: string) => text, { stream: () => identity });
  let automaton: Automaton | null = null;
  const stream = () => {
    // Not before something is to be scrubbed: many a scrubber is made for an error that never comes.
    automaton ??= Automaton.of(needles(telling));
    if (automaton.full) ({ automaton } = automaton.renewed(0));
    return new KnownSecrets(automaton);
  };
  const whole = (text: string) => {
    if (!isTelling(text)) return text;
    const pieces = stream();
    return pieces.push(text) + pieces.flush();
  };
  return Object.assign(whole, { stream });
}

function* needles(values: readonly string[]): Generator<string> {
  for (const value of values) {
    const texts = secretTexts(value);
    const lines = secretLines(value).filter((line) => !texts.has(line));
    for (const text of texts) if (isTelling(text)) yield* [...encodedForms(text)].filter(isTelling);
    for (const line of lines) if (isTelling(line)) yield* [...lineForms(line)].filter(isTelling);
  }
}

class KnownSecrets implements ScrubStream {
  readonly #search: Search;
  /** What was not said yet, and the secrets found in it; they don't overlap. */
  #held = "";
  #found: Span[] = [];

  constructor(automaton: Automaton) {
    this.#search = new Search(automaton);
  }

  push(piece: string): string {
    const offset = this.#held.length;
    this.#search.push(piece, (start, end) => this.#note(Math.max(0, offset + start), offset + end));
    this.#held += piece;
    return this.#say(this.#safe());
  }

  flush(): string {
    return this.#say(this.#held.length);
  }

  /** How much of what is held can be said. */
  #safe(): number {
    const { length } = this.#held;
    const { begun } = this.#search;
    let safe = Math.max(0, begun < tellingStart ? length : length - begun);
    // One that ends there may yet overlap with the next.
    const last = this.#found.at(-1);
    if (last?.end === safe) safe = last.start;
    const cut = this.#found.find(({ end }) => end > safe);
    return cut ? Math.min(safe, cut.start) : safe;
  }

  #note(from: number, end: number): void {
    let start = from;
    for (let last = this.#found.at(-1); last && last.end > start; last = this.#found.at(-1)) {
      start = Math.min(start, last.start);
      this.#found.pop();
    }
    this.#found.push({ start, end });
  }

  #say(safe: number): string {
    if (safe === 0) return "";
    const text = this.#held;
    let said = "";
    let from = 0;
    let spans = 0;
    for (const { start, end } of this.#found) {
      if (end > safe) break;
      said += text.slice(from, start) + scrubbed;
      from = end;
      spans += 1;
    }
    this.#held = text.slice(safe);
    this.#found = this.#found.slice(spans).map(({ start, end }) => ({ start: start - safe, end: end - safe }));
    return said + text.slice(from, safe);
  }
}
