import { scrubber } from "../../../core/scrub.ts";

/** Less than the sandbox gives of an error, and than the shortest log that it cuts. */
const wholeUntil = 8_000;

/**
 * What a script said, without the beginning of a value at an end where it was cut, by the sandbox or here: no scrubber
 * would know it for what it is.
 */
export class ScriptWords {
  readonly #values: readonly string[];

  constructor(values: readonly string[]) {
    this.#values = values;
  }

  /** The first 8,000 characters of an error. */
  error(text: string): string {
    return text.length <= wholeUntil ? text : this.#cut(text.slice(0, wholeUntil));
  }

  /** Of a log that was cut, the last text may not be whole, and a note may follow it. */
  logs(texts: readonly string[]): string[] {
    const long = texts.reduce((sum, { length }) => sum + length, 0) > wholeUntil;
    return texts.map((text, index) => (long && index >= texts.length - 2 ? this.#cut(text) : text));
  }

  #cut(text: string): string {
    return scrubber(this.#values).stream().push(text).toWellFormed();
  }
}
