import { Automaton } from "./automaton.ts";
import { encodedForms } from "./encoded-forms.ts";

/** What stands where a secret stood. */
export const scrubbed = "[secret]";

/** Shorter values would turn ordinary words into marks, and protect nothing that deserves the name of a secret. */
const shortest = 6;

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
  /** What was held back, once nothing more comes. */
  end(): string;
}

const identity: ScrubStream = { push: (piece) => piece, end: () => "" };

/** A function that blots out the given values wherever they occur in a text, also encoded. */
export function scrubber(values: Iterable<string>): Scrub {
  const needles = new Set<string>();
  for (const value of values) {
    if (value.length < shortest) continue;
    for (const form of encodedForms(value)) if (form.length >= shortest) needles.add(form);
  }
  if (needles.size === 0) return Object.assign((text: string) => text, { stream: () => identity });
  const automaton = new Automaton(needles);
  const stream = () => new KnownSecrets(automaton);
  const whole = (text: string) => {
    const pieces = stream();
    return pieces.push(text) + pieces.end();
  };
  return Object.assign(whole, { stream });
}

/** A JSON value, scrubbed; the value itself when there is nothing to scrub. */
export function scrubJson<Value>(value: Value, scrub: Scrub): Value | string {
  const text = JSON.stringify(value);
  const clean = scrub(text);
  if (clean === text) return value;
  try {
    return JSON.parse(clean) as Value;
  } catch {
    // A secret that looks like JSON itself may take a bracket or a quote with it.
    return scrubbed;
  }
}

interface Span {
  start: number;
  end: number;
}

class KnownSecrets implements ScrubStream {
  readonly #automaton: Automaton;
  #state = 0;
  /** What was not said yet, and the secrets found in it; they don't overlap. */
  #held = "";
  #found: Span[] = [];

  constructor(automaton: Automaton) {
    this.#automaton = automaton;
  }

  push(piece: string): string {
    const offset = this.#held.length;
    const text = this.#held + piece;
    for (let index = offset; index < text.length; index += 1) {
      this.#state = this.#automaton.next(this.#state, text.charCodeAt(index));
      const length = this.#automaton.longestEndingAt(this.#state);
      if (length > 0) this.#note({ start: Math.max(0, index + 1 - length), end: index + 1 });
    }
    // Whatever the automaton still remembers may be the beginning of a secret.
    const begun = this.#automaton.depth(this.#state);
    let safe = begun < tellingStart ? text.length : text.length - begun;
    const last = this.#found.at(-1);
    if (last && last.end >= safe) safe = Math.min(safe, last.start);
    return this.#say(text, Math.max(0, safe));
  }

  end(): string {
    const text = this.#held;
    const said = this.#say(text, text.length);
    this.#state = 0;
    return said;
  }

  #note(span: Span): void {
    let { start } = span;
    for (let last = this.#found.at(-1); last && last.end > start; last = this.#found.at(-1)) {
      start = Math.min(start, last.start);
      this.#found.pop();
    }
    this.#found.push({ start, end: span.end });
  }

  #say(text: string, safe: number): string {
    let said = "";
    let from = 0;
    let spans = 0;
    for (const { start, end } of this.#found) {
      if (end > safe) break;
      said += text.slice(from, start) + scrubbed;
      from = end;
      spans += 1;
    }
    said += text.slice(from, Math.max(from, safe));
    const cut = Math.max(from, safe);
    this.#held = text.slice(cut);
    this.#found = this.#found.slice(spans).map(({ start, end }) => ({ start: start - cut, end: end - cut }));
    return said;
  }
}
