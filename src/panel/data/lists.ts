/** The separator of items in a list written as text. */
export type Separator = "," | "\n";

/** The non-empty items, without surrounding spaces. */
export const itemsIn = (text: string, separator: Separator): string[] =>
  text.split(separator).flatMap((item) => (item.trim() === "" ? [] : [item.trim()]));

/** Returns the typed text while it means these items, so that a comma at its end stays; otherwise the items as text. */
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
