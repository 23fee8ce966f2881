import { clip } from "../../core/text/text.ts";

/** The most that a span shows of one value, and a whole trace of all its values, in UTF-16 units. */
const [longestValue, longestTrace] = [64 * 1024, 1024 * 1024];

/** Writes the values of one trace, each cut to the trace's remaining length. */
export class Texts {
  #left = longestTrace;

  /** A text as it is, another value as JSON; undefined for nothing. */
  of(value: unknown): string | undefined {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    if (text === undefined || text === "") return undefined;
    const most = Math.min(longestValue, this.#left);
    const shown = text.length <= most ? text : `${clip(text, most)}… (${text.length} characters)`;
    this.#left = Math.max(0, this.#left - shown.length);
    return shown;
  }
}
