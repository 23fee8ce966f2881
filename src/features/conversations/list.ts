import { and, desc, eq, gt, gte, inArray, lt, sql } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import type { Database } from "../../db/client.ts";
import { agents, conversations, messages } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";
import { countTotal } from "../../http/paging.ts";
import { findAgent, withinReach } from "../agents/index.ts";
import { selectConversations, toConversation } from "./find.ts";
import { queryOf, readSearch, type Search, snippetOf } from "./rules.ts";
import type { ConversationPage, ConversationQuery } from "./schema.ts";
import { anyOf, type ListFilters, searchBounds, searchConversations } from "./search.ts";

/** The order of a list: the newest first. */
const newestFirst = [desc(conversations.updatedAt), desc(conversations.id)];

/**
 * A page of the reachable conversations that have messages, newest first. Throws the 404 of the agent. A search reads
 * no more than `bounds`.
 */
export async function listConversations(
  ctx: Ctx,
  query: ConversationQuery,
  bounds = searchBounds,
): Promise<ConversationPage> {
  const { limit = 20, offset = 0 } = query;
  const page = { limit, offset };
  const search = readSearch(query.search ?? "");
  const filters = await filtersOf(ctx, query);
  if (!search) return { ...(await listAll(ctx, filters, page)), ...page };
  const { ids, total, searchedFrom } = await searchConversations(ctx, search, { filters, ...page, bounds });
  const rows = await selectConversations(ctx.db)
    .where(inArray(conversations.id, ids))
    .orderBy(...newestFirst);
  const snippets = await findSnippets(ctx.database, ids, search);
  const found = rows.map((row) => {
    return { ...toConversation(row, ctx.options.edition), snippet: snippets.get(row.conversation.id) ?? null };
  });
  return { conversations: found, total, ...page, searchedFrom: searchedFrom?.toISOString() ?? null };
}

async function listAll(
  ctx: Ctx,
  { all }: ListFilters,
  page: { limit: number; offset: number },
): Promise<Pick<ConversationPage, "conversations" | "total" | "searchedFrom">> {
  const rows = await selectConversations(ctx.db)
    .where(all)
    .orderBy(...newestFirst)
    .limit(page.limit)
    .offset(page.offset);
  const matches = ctx.db
    .select({ id: conversations.id })
    .from(conversations)
    .innerJoin(agents, eq(agents.id, conversations.agentId))
    .where(all);
  const total = await countTotal(ctx.db, rows.length, page, matches);
  const shown = rows.map((row) => ({ ...toConversation(row, ctx.options.edition), snippet: null }));
  return { conversations: shown, total, searchedFrom: null };
}

async function filtersOf(ctx: Ctx, { instanceId, channel, source, from, to }: ConversationQuery): Promise<ListFilters> {
  const agent = instanceId === undefined ? null : await findAgent(ctx, instanceId);
  const indexed = and(
    // Each condition has its own index, which contains only conversations with messages.
    agent ? eq(conversations.agentId, agent.id) : eq(conversations.organizationId, ctx.membership.organizationId),
    gt(conversations.messageCount, sql`0`),
    from ? gte(conversations.updatedAt, from) : undefined,
    to ? lt(conversations.updatedAt, to) : undefined,
  );
  const all = and(
    indexed,
    withinReach(ctx),
    channel ? eq(conversations.channel, channel) : undefined,
    source ? eq(conversations.source, source) : undefined,
  );
  return { indexed, all };
}

/** The characters that a snippet shows before the match. */
const before = 60;

/**
 * The text around the match in the newest matching message of each conversation; a match at the beginning of a word is
 * preferred. The database sends only 300 characters of a message.
 */
const snippetStatement = statement(
  { ids: "uuid[]", typed: "text", indexed: "text", words: "text[]" },
  ({ ids, typed, indexed, words }) => sql<{ id: string; begun: boolean; text: string }>`
    select wanted.id, place.at > ${before} as begun, substr(newest.content, greatest(place.at - ${before}, 1), 300) as text
    from unnest(${ids}) as wanted(id)
    cross join lateral (
      select ${messages.content} as content from ${messages}
      where ${messages.conversationId} = wanted.id and ${messages.search} @@ ${anyOf(typed, indexed)}
      order by ${messages.seq} desc limit 1
    ) newest
    cross join lateral (
      select ' ' || translate(lower(left(newest.content, 200000)), E'\\n\\r\\t', '   ') as folded offset 0
    ) t
    cross join lateral (
      select coalesce(
          min(nullif(strpos(t.folded, ' ' || lower(word)), 0)), min(nullif(strpos(t.folded, lower(word)), 0)) - 1, 1
        ) as at
      from unnest(${words}) as word
    ) place`,
);

/** Snippets by conversation id; none for a conversation whose title alone matches. */
async function findSnippets(database: Database, ids: readonly string[], search: Search): Promise<Map<string, string>> {
  if (ids.length === 0 || search.words.length === 0) return new Map();
  const rows = await snippetStatement.run(database, { ids, ...queryOf(search.words), words: search.placed });
  return new Map(rows.map(({ id, ...excerpt }) => [id, snippetOf(excerpt)]));
}
