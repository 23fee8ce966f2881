/** Returns a function that tests whether texts contain every wanted word, in upper or lower case. */
export function wordsIn(wanted: string): (...texts: readonly string[]) => boolean {
  const words = wanted.toLowerCase().split(/\s+/);
  return (...texts) => {
    const text = texts.join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  };
}

/** The separator of items in a list written as text. */
type Separator = "," | "\n";

/** The non-empty items, without surrounding spaces. */
export const itemsIn = (text: string, separator: Separator): string[] =>
  text.split(separator).flatMap((item) => (item.trim() === "" ? [] : [item.trim()]));

/** Returns the typed text while it stands for these items, so that its last comma stays; else the items as text. */
export function textOf(items: readonly string[], typed: string, separator: Separator): string {
  const said = itemsIn(typed, separator);
  if (said.length === items.length && said.every((item, index) => item === items[index])) return typed;
  return items.join(separator === "," ? ", " : separator);
}

/** Parses lines such as `name = value`. Throws for another line, with the example. */
export const pairsIn = (text: string, example: string): (readonly [name: string, value: string])[] =>
  itemsIn(text, "\n").map((line) => {
    const [, name, value] = /^([^=]+?)\s*=\s*(.+)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new Error(`“${line}” should be as: ${example}`);
    return [name, value];
  });

/** Parses JSON. Throws for invalid JSON, with its position and `subject` in words for people. */
export function jsonIn(text: string, subject: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${subject} is not JSON${placeIn(text, String(error))}: look for a missing quote or comma`);
  }
}

/** The position of the error. Browsers report it as a line, as a position or, as Safari does, not at all. */
function placeIn(text: string, message: string): string {
  const line = /line (\d+)/.exec(message)?.[1];
  if (line !== undefined) return ` from line ${line} on`;
  const position = /position (\d+)/.exec(message)?.[1];
  if (position !== undefined) return ` from line ${text.slice(0, Number(position)).split("\n").length} on`;
  return /end of/i.test(message) ? " to its end" : "";
}
