import { getTableName, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { messages } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";
import type { SearchWord } from "./rules.ts";

/**
 * Those of the words that at most `most` messages have, by PostgreSQL's statistics. They name the most frequent terms,
 * so a word that they do not name is rare. Without statistics, such as in the embedded database, all words are.
 */
export async function findRareWords(
  database: Database,
  words: readonly SearchWord[],
  most: number,
): Promise<SearchWord[]> {
  if (words.length === 0) return [];
  const rows = await commonTerms.run(database, { terms: words.flatMap(({ terms }) => terms), most });
  const common = new Set(rows.map(({ term }) => term));
  return words.filter(({ terms }) => terms.some((term) => !common.has(term)));
}

/** The terms that more than `most` messages have. A message may have several terms of one beginning. */
const commonTerms = statement(
  { terms: "text[]", most: "int" },
  ({ terms, most }) => sql<{ term: string }>`
    with known as materialized (
      select element.lexeme, element.frequency * relation.reltuples as messages
      from pg_class relation
      join pg_namespace namespace on namespace.oid = relation.relnamespace
      join pg_stats statistics on statistics.schemaname = namespace.nspname
        and statistics.tablename = relation.relname and statistics.attname = ${messages.search.name}
      cross join unnest(statistics.most_common_elems::text::text[], statistics.most_common_elem_freqs)
        as element(lexeme, frequency)
      where relation.oid = ${getTableName(messages)}::regclass
    )
    select wanted.term from unnest(${terms}) as wanted(term)
    join known on known.lexeme = wanted.term
      or (right(wanted.term, 1) = '*' and starts_with(known.lexeme, left(wanted.term, -1)))
    group by wanted.term having sum(known.messages) > ${most}`,
);
