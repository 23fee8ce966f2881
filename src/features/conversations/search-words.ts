import { type SQL, sql } from "drizzle-orm";
import { indexTerms } from "../../core/text/words.ts";

/**
 * In UTF-16 units of at most 3 bytes. A `tsvector` holds 1 MiB of words and does not check that where it is made of a
 * list.
 */
const mostIndexed = 300_000;

/**
 * The words by which a message is found, in ascending order and with spaces between them. `C++` is found by `c` too.
 * The order keeps the sorting of PostgreSQL, whose time strangers could square otherwise, to one comparison a word.
 */
export function searchWords(content: string): string {
  const words = new Set<string>();
  let room = mostIndexed;
  const add = (word: string) => {
    room -= word.length + 1;
    if (room >= 0) words.add(word);
  };
  for (const term of indexTerms(content)) {
    add(term);
    if (/[+#]$/.test(term)) add(term.replace(/[+#]+$/, ""));
  }
  return [...words].sort().join(" ");
}

/** The search column of a message with these `searchWords`. */
export const searchColumn = (words: SQL | string): SQL => sql`array_to_tsvector(string_to_array(${words}, ' '))`;
