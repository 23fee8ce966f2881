import { sql } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import { every } from "../../core/time/every.ts";
import { assign, jsonRows } from "../../db/fragments.ts";
import { unlessDeadlocked } from "../../db/retry.ts";
import { messages } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";
import { searchColumn, searchWords } from "./search-words.ts";

const restMs = 10 * 60_000;

/** Messages that are in memory at a time, and pages of one call at most, so that no other upkeep waits for long. */
const [pageSize, mostPages] = [20, 25];

/**
 * Indexes the messages that servers of an earlier release wrote beside this one: an upgrade lets both run for a while.
 * Looks for them every 10 minutes. Call it every 10 seconds.
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

/** The default of the column. */
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
