import { and, desc, eq, gte, or, type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import type { Db } from "../../db/client.ts";
import { agents, conversations, messages } from "../../db/schema.ts";
import { mostCounted } from "../../http/paging.ts";
import { findRareWords } from "./rare-words.ts";
import { queryOf, type Search, type SearchWord } from "./rules.ts";

/** The most that a search reads, so that it takes less than a second in a database of any size. */
export interface SearchBounds {
  /** Messages with the rare words of the search. A word that more messages have is frequent. */
  rare: number;
  /** Titles of the newest conversations. */
  titles: number;
  /** The newest conversations whose messages are searched for frequent words, and their messages in all. */
  conversations: number;
  messages: number;
}

export const searchBounds: SearchBounds = { rare: 20_000, titles: 300_000, conversations: 50_000, messages: 300_000 };

/** The conditions of a list, for queries that join `agents`. */
export interface ListFilters {
  /** The conditions that an index answers, which is ordered by `updatedAt`. */
  indexed: SQL | undefined;
  all: SQL | undefined;
}

interface Options {
  filters: ListFilters;
  limit: number;
  offset: number;
  bounds: SearchBounds;
}

interface SearchPage {
  /** The conversations of the page, the newest first. */
  ids: string[];
  /** Up to `mostCounted`. */
  total: number;
  /** Conversations before this time were searched only for rare words of their messages; null if all were in full. */
  searchedFrom: Date | null;
}

/**
 * A page of the conversations that match. The index of words leads to all messages with a rare word. For a frequent
 * word it would return a large part of all messages of the installation, so without a rare word the messages of the
 * newest conversations are read one by one. Titles have no index.
 */
export async function searchConversations(ctx: Ctx, search: Search, options: Options): Promise<SearchPage> {
  const rare = await findRareWords(ctx.database, search.words, options.bounds.rare);
  return ctx.database.transaction(async (db) => {
    // Otherwise PostgreSQL may read a whole table, which it takes for cheaper than the part that an index leads to.
    await db.execute(sql`set local enable_seqscan = off`);
    if (search.words.length === 0) return searchTitles(db, search, options);
    const page = rare.length > 0 ? await searchRare(db, { search, rare }, options) : null;
    return page ?? searchFrequent(db, search, options);
  });
}

async function searchTitles(db: Db, search: Search, options: Options): Promise<SearchPage> {
  const searchedFrom = await startOf(db, options, { conversations: options.bounds.titles });
  const { ids, total } = await readPage(db, options, { matches: since(searchedFrom, options, inTitle(search)) });
  return { ids, total, searchedFrom };
}

async function searchFrequent(db: Db, search: Search, options: Options): Promise<SearchPage> {
  const searchedFrom = await startOf(db, options, options.bounds);
  const matches = since(searchedFrom, options, or(inTitle(search), inMessage(search)));
  const { ids, total } = await readPage(db, options, { matches });
  return { ids, total, searchedFrom };
}

/** Null if more messages have the rare words than the statistics say. */
async function searchRare(
  db: Db,
  { search, rare }: { search: Search; rare: readonly SearchWord[] },
  options: Options,
): Promise<SearchPage | null> {
  const { bounds, filters } = options;
  const searchedFrom = await startOf(db, options, { conversations: bounds.titles });
  const found = sql`
    select ${messages.conversationId} as id, ${messages.search} @@ ${tsquery(search.words)} as matches
    from ${messages} where ${messages.search} @@ ${tsquery(rare)} limit ${bounds.rare + 1}`;
  // `offset 0` keeps PostgreSQL from reading all conversations instead of those few, and the order of titles from
  // starting parallel workers, which cost more.
  const matches = sql`
    select * from (
      select ${conversations.id}, ${conversations.updatedAt}
      from (select distinct id from found where matches) one
      cross join lateral (select * from ${conversations} where ${conversations.id} = one.id offset 0) ${conversations}
      join ${agents} on ${eq(agents.id, conversations.agentId)}
      where ${filters.all}
      union (${since(searchedFrom, options, inTitle(search))} ${newestOf(options)})
    ) either where (select count(*) from found) <= ${bounds.rare}`;
  const { ids, total, read } = await readPage(db, options, { found, matches });
  return read > bounds.rare ? null : { ids, total, searchedFrom };
}

/** The conversations since a time that meet a condition. */
const since = (from: Date | null, { filters: { all } }: Options, condition: SQL | undefined): SQL => sql`
  select ${conversations.id}, ${conversations.updatedAt}
  from ${conversations} join ${agents} on ${eq(agents.id, conversations.agentId)}
  where ${and(all, from ? gte(conversations.updatedAt, from) : undefined, condition)}`;

/** `strpos` instead of a pattern, so that `%` and `_` match only themselves. */
const inTitle = ({ phrase }: Search): SQL | undefined =>
  or(...phrase.map((form) => sql`strpos(lower(${conversations.title}), lower(${form})) > 0`));

/** `offset 0` keeps PostgreSQL from asking its index of words, which would return messages of all conversations. */
const inMessage = ({ words }: Search): SQL => sql`exists (
  select from (
    select ${messages.search} as words from ${messages} where ${messages.conversationId} = ${conversations.id} offset 0
  ) message where message.words @@ ${tsquery(words)})`;

const tsquery = (words: readonly SearchWord[]): SQL => {
  const { typed, indexed } = queryOf(words);
  return anyOf(sql`${typed}`, sql`${indexed}`);
};

/** A `tsquery` for messages of this release, by the words of `indexed`, and for older ones, whose words PostgreSQL split. */
export const anyOf = (typed: SQL, indexed: SQL): SQL => sql`(to_tsquery('simple', ${typed}) || ${indexed}::tsquery)`;

const order = sql`order by updated_at desc, id desc`;

/** As many as a page and its total need. */
const newestOf = ({ limit, offset }: Options): SQL => sql`${order} limit ${Math.max(mostCounted, offset + limit)}`;

/** `read`: the number of rows of `found`, which `matches` may use. */
async function readPage(
  db: Db,
  options: Options,
  { found = sql`select where false`, matches }: { found?: SQL; matches: SQL },
): Promise<{ ids: string[]; total: number; read: number }> {
  const rows = await db.execute<{ id: string | null; total: number; read: number }>(sql`
    with found as materialized (${found}), matches as materialized (${matches} ${newestOf(options)})
    select page.id, counted.* from (
      select count(*)::int as total, (select count(*)::int from found) as read from matches
    ) counted
    left join (select * from matches ${order} limit ${options.limit} offset ${options.offset}) page on true
    ${order}`);
  const { total = 0, read = 0 } = rows[0] ?? {};
  return { ids: rows.flatMap(({ id }) => id ?? []), total: Math.min(total, mostCounted), read };
}

/** The time of the oldest conversation that is read if only so many are; null if that leaves none out. */
async function startOf(
  db: Db,
  { filters: { indexed } }: Options,
  most: { conversations: number; messages?: number },
): Promise<Date | null> {
  const { updatedAt, messageCount } = conversations;
  const newer = sql`sum(${messageCount}) over (order by ${updatedAt} desc rows unbounded preceding) - ${messageCount}`;
  const fits = most.messages === undefined ? sql`true` : sql`${newer} < ${most.messages}`;
  const newest = db
    .select({ updatedAt, fits: fits.as("fits") })
    .from(conversations)
    .where(indexed)
    .orderBy(desc(updatedAt))
    .limit(most.conversations)
    .as("newest");
  const start = sql<Date | null>`case when count(*) = ${most.conversations} or not bool_and(${newest.fits})
    then min(${newest.updatedAt}) filter (where ${newest.fits}) end`;
  const [row] = await db.select({ start: start.mapWith(updatedAt) }).from(newest);
  return row?.start ?? null;
}
