import { scrubber } from "../../../core/scrub/scrub.ts";

/** In characters: less than the sandbox's limits of an error and of a log, so that a shorter text was not cut. */
const wholeUntil = 8_000;

/**
 * The error and the logs of a script. Where the sandbox or this class cut a text, the beginning of a secret value may
 * be left at the end, which no scrubber would find: it is removed.
 */
export class ScriptOutput {
  readonly #values: readonly string[];

  constructor(values: readonly string[]) {
    this.#values = values;
  }

  /** The first 8,000 characters of an error. */
  error(text: string): string {
    return text.length <= wholeUntil ? text : this.#cut(text.slice(0, wholeUntil));
  }

  /** The logs. When they were cut, the last text may be incomplete, and a note may follow it. */
  logs(texts: readonly string[]): string[] {
    const long = texts.reduce((sum, { length }) => sum + length, 0) > wholeUntil;
    return texts.map((text, index) => (long && index >= texts.length - 2 ? this.#cut(text) : text));
  }

  #cut(text: string): string {
    return scrubber(this.#values).stream().push(text).toWellFormed();
  }
}
