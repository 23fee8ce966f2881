/**
 * Values as data in a prompt: one JSON text in each line, between `<<mark` and `mark>>`. The mark must be random, so
 * that no author of a value can write it.
 */
export function dataLines(mark: string, values: readonly unknown[]): string {
  return [`<<${mark}`, ...values.map((value) => dataText(mark, value)), `${mark}>>`].join("\n");
}

/** A value as data within a sentence, between the same marks. */
export function inlineData(mark: string, value: unknown): string {
  return `<<${mark} ${dataText(mark, value)} ${mark}>>`;
}

/** Replaces a mark by a character instead of removing it, since the text around it could then form another mark. */
const dataText = (mark: string, value: unknown) => JSON.stringify(value).replaceAll(mark, "…");

/** The JSON value in a model's answer, even if a fence or a sentence is around it; undefined when there is none. */
export function jsonInAnswer(answer: string): unknown {
  const start = answer.search(/[{[]/);
  const end = Math.max(answer.lastIndexOf("}"), answer.lastIndexOf("]"));
  if (start < 0 || end < start) return undefined;
  try {
    return JSON.parse(answer.slice(start, end + 1));
  } catch {
    return undefined;
  }
}
