/** What stands between the items of a list that is written as text. */
export type Separator = "," | "\n";

/** The items, without spaces around them; empty ones are none. */
export const itemsIn = (text: string, separator: Separator): string[] =>
  text.split(separator).flatMap((item) => (item.trim() === "" ? [] : [item.trim()]));

/** The items that are there now, less those that somebody took away from what was `seen`, and with those that were added. */
export const withChanges = (now: readonly string[], seen: readonly string[], wanted: readonly string[]): string[] => [
  ...now.filter((item) => wanted.includes(item) || !seen.includes(item)),
  ...wanted.filter((item) => !seen.includes(item) && !now.includes(item)),
];

/** The text as it was typed while it says the items, so that a comma at its end stays; otherwise the items. */
export function textOf(items: readonly string[], typed: string, separator: Separator): string {
  const said = itemsIn(typed, separator);
  if (said.length === items.length && said.every((item, index) => item === items[index])) return typed;
  return items.join(separator === "," ? ", " : separator);
}
