import { type SQL, sql } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import { indexTerms } from "../../core/text/words.ts";
import { every } from "../../core/time/every.ts";
import { assign, jsonRows } from "../../db/fragments.ts";
import { unlessDeadlocked } from "../../db/retry.ts";
import { messages } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";

/**
 * The most text of a message that is indexed, in UTF-16 units of at most 3 bytes. A `tsvector` can store 1 MiB of
 * words, and is not checked for that when it is made from a list.
 */
const mostIndexed = 300_000;

/**
 * The words by which a message is found, ascending, with spaces between. `C++` is also found by `c`. The order saves
 * PostgreSQL the sorting, which strangers could make quadratic: it needs one comparison for each word.
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

const restMs = 10 * 60_000;

/** The most messages in memory, and the most pages of one call, so that other upkeep does not wait for long. */
const [pageSize, mostPages] = [20, 25];

/**
 * Indexes messages that servers of an earlier release wrote, which may run beside this one during an upgrade. Looks for
 * them every 10 minutes. Call it every 10 seconds.
 */
export function indexMessages({ database, clock }: Pick<Services, "database" | "clock">): () => Promise<void> {
  const indexPage = async (): Promise<boolean> => {
    const page = await pageStatement.run(database, {});
    const indexed = JSON.stringify(page.map(({ id, content }) => ({ id, words: searchWords(content) })));
    if (page.length > 0) await unlessDeadlocked(() => indexStatement.run(database, { indexed }));
    return page.length < pageSize;
  };
  return every(clock, restMs, async () => {
    for (let page = 0; page < mostPages; page += 1) {
      if (await indexPage()) return true;
    }
    return false;
  });
}

/** Whether the column still has its default. */
const isUnindexed = sql`${messages.search} @@ ''' '''::tsquery`;

const pageStatement = statement(
  {},
  () => sql<{ id: string; content: string }>`
    select ${messages.id} as id, left(${messages.content}, 200000) as content
    from ${messages} where ${isUnindexed} limit ${pageSize}`,
);

const indexStatement = statement({ indexed: "jsonb" }, ({ indexed }) => {
  const { table, row } = jsonRows(indexed, "indexed", { id: messages.id, words: "text" });
  return sql`
    update ${messages} set ${assign(messages, { search: searchColumn(row.words) })} from ${table}
    where ${messages.id} = ${row.id}`;
});
