/**
 * PostgreSQL's text form of a list, such as `{"a","b"}`, which both databases take as a parameter. A text is returned
 * unchanged, since Drizzle writes lists itself.
 */
export function writeArray(list: readonly string[] | string): string {
  if (typeof list === "string") return list;
  return `{${list.map((item) => `"${item.replaceAll(/["\\]/g, "\\$&")}"`).join(",")}}`;
}

/** Reads a one-dimensional list in PostgreSQL's text form. */
export function readArray(text: string): (string | null)[] {
  const items = text.slice(1, -1).matchAll(/"((?:[^"\\]|\\[\s\S])*)"|[^,]+/g);
  return Array.from(items, ([item, quoted]) => {
    if (quoted !== undefined) return quoted.replaceAll(/\\([\s\S])/g, "$1");
    return item === "NULL" ? null : item;
  });
}
