/** A mapping as people write it: one a line, `name in the state = path in the context`. */
export const mappingText = (mapping: Readonly<Record<string, string>>): string =>
  Object.entries(mapping)
    .map(([name, path]) => `${name} = ${path}`)
    .join("\n");

/** The mapping of such lines. Throws for a line without a name or without a path. */
export function mappingIn(text: string): Record<string, string> {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, path] = /^([^=]+?)\s*=\s*(.+)$/.exec(line) ?? [];
      if (name === undefined || path === undefined) throw new Error(`“${line}” should be as: customerId = customer.id`);
      return [name, path];
    }),
  );
}
