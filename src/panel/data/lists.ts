/** What stands between the items of a list that is written as text. */
export type Separator = "," | "\n";

/** The items, without spaces around them; empty ones are none. */
export const itemsIn = (text: string, separator: Separator): string[] =>
  text.split(separator).flatMap((item) => (item.trim() === "" ? [] : [item.trim()]));

/** The text as it was typed while it says the items, so that a comma at its end stays; otherwise the items. */
export function textOf(items: readonly string[], typed: string, separator: Separator): string {
  const said = itemsIn(typed, separator);
  if (said.length === items.length && said.every((item, index) => item === items[index])) return typed;
  return items.join(separator === "," ? ", " : separator);
}

/** The names and values of lines such as `name = value`. Throws for another line, and shows the example. */
export const pairsIn = (text: string, example: string): (readonly [name: string, value: string])[] =>
  itemsIn(text, "\n").map((line) => {
    const [, name, value] = /^([^=]+?)\s*=\s*(.+)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new Error(`“${line}” should be as: ${example}`);
    return [name, value];
  });
