import { and, desc, eq, gt, gte, lt, type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import { writeArray } from "../../db/arrays.ts";
import type { Database } from "../../db/client.ts";
import { agents, conversations, messages } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";
import { countTotal } from "../../http/paging.ts";
import { findAgent, withinReach } from "../agents/index.ts";
import { selectConversations, toConversation } from "./find.ts";
import { readSearch, type Search, snippetOf } from "./rules.ts";
import type { ConversationPage, ConversationQuery } from "./schema.ts";

/** A page of the reachable conversations that have messages, newest first. Throws the 404 of the agent. */
export async function listConversations(ctx: Ctx, query: ConversationQuery): Promise<ConversationPage> {
  const { limit = 20, offset = 0 } = query;
  const search = readSearch(query.search ?? "");
  const wanted = await filters(ctx, query, search);
  const rows = await selectConversations(ctx.db)
    .where(wanted)
    .orderBy(desc(conversations.updatedAt), desc(conversations.id))
    .limit(limit)
    .offset(offset);
  const matches = ctx.db
    .select({ id: conversations.id })
    .from(conversations)
    .innerJoin(agents, eq(agents.id, conversations.agentId))
    .where(wanted);
  const total = await countTotal(ctx.db, rows.length, { limit, offset }, matches);
  const ids = rows.map(({ conversation }) => conversation.id);
  const snippets = await findSnippets(ctx.database, ids, search);
  const shown = rows.map((row) => ({ ...toConversation(row), snippet: snippets.get(row.conversation.id) ?? null }));
  return { conversations: shown, total, limit, offset };
}

async function filters(
  ctx: Ctx,
  { instanceId, channel, source, from, to }: ConversationQuery,
  search: Search | null,
): Promise<SQL | undefined> {
  const agent = instanceId === undefined ? null : await findAgent(ctx, instanceId);
  return and(
    withinReach(ctx),
    // Each condition has its own index, which contains only conversations with messages.
    agent ? eq(conversations.agentId, agent.id) : eq(conversations.organizationId, ctx.membership.organizationId),
    gt(conversations.messageCount, sql`0`),
    channel ? eq(conversations.channel, channel) : undefined,
    source ? eq(conversations.source, source) : undefined,
    from ? gte(conversations.updatedAt, from) : undefined,
    to ? lt(conversations.updatedAt, to) : undefined,
    search ? matches(search) : undefined,
  );
}

/** `strpos` instead of a pattern, so that `%` and `_` match only themselves. */
function matches({ phrase, query }: Search): SQL {
  const inTitle = sql`exists (
    select 1 from unnest(${writeArray(phrase)}::text[]) as form
    where strpos(lower(${conversations.title}), lower(form)) > 0)`;
  if (query === null) return inTitle;
  return sql`(${inTitle} or exists (
    select 1 from ${messages}
    where ${messages.conversationId} = ${conversations.id} and ${messages.search} @@ ${anyOf(sql`${query.typed}`, sql`${query.indexed}`)}))`;
}

/**
 * A `tsquery` for messages of this release, by the words of `indexed`, and for older ones, whose words PostgreSQL split.
 */
const anyOf = (typed: SQL, indexed: SQL) => sql`(to_tsquery('simple', ${typed}) || ${indexed}::tsquery)`;

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
async function findSnippets(
  database: Database,
  ids: readonly string[],
  search: Search | null,
): Promise<Map<string, string>> {
  if (ids.length === 0 || !search?.query) return new Map();
  const rows = await snippetStatement.run(database, { ids, ...search.query, words: search.words });
  return new Map(rows.map(({ id, ...excerpt }) => [id, snippetOf(excerpt)]));
}
