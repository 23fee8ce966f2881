import { pairsIn } from "../../../../data/lists.ts";

/** A mapping as people write it: one a line, `name in the state = path in the context`. */
export const mappingText = (mapping: Readonly<Record<string, string>>): string =>
  Object.entries(mapping)
    .map(([name, path]) => `${name} = ${path}`)
    .join("\n");

/** The mapping of such lines. Throws for a line without a name or without a path. */
export const mappingIn = (text: string): Record<string, string> =>
  Object.fromEntries(pairsIn(text, "customerId = customer.id"));
