import { pairsIn } from "../../../../data/text.ts";

/** A mapping as text, with a line `name in the state = path in the context` for each entry. */
export const mappingText = (mapping: Readonly<Record<string, string>>): string =>
  Object.entries(mapping)
    .map(([name, path]) => `${name} = ${path}`)
    .join("\n");

/** Parses the lines of a mapping. Throws for a line without a name or a path. */
export const mappingIn = (text: string): Record<string, string> =>
  Object.fromEntries(pairsIn(text, "customerId = customer.id"));
