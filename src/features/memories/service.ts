import { and, desc, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import { write } from "../../context/write.ts";
import { shownSubject } from "../../core/channels/subjects.ts";
import { notFound } from "../../core/errors.ts";
import { queriesOf, sqlState } from "../../db/client.ts";
import { hasId } from "../../db/fragments.ts";
import { unlessOvertaken } from "../../db/retry.ts";
import { agents, conversations, memories } from "../../db/schema.ts";
import { countTotal } from "../../http/paging.ts";
import { findAgent, withinReach } from "../agents/index.ts";
import { enqueueEmbedding } from "./meaning/embed.ts";
import {
  type Memory,
  type MemoryDeletion,
  type MemoryPage,
  type MemoryQuery,
  type NewMemory,
  type SavedMemory,
  subjectIn,
} from "./schema.ts";
import { type MemoryRow, storeMemory } from "./store.ts";
import { queryForAll } from "./text.ts";

/** A page of the reachable memories, newest first. Throws the 404 of the agent. */
export async function listMemories(ctx: Ctx, query: MemoryQuery): Promise<MemoryPage> {
  const { instanceId, search, category, limit = 20, offset = 0 } = query;
  if (instanceId !== undefined) await findAgent(ctx, instanceId);
  const reached = and(withinReach(ctx), instanceId === undefined ? undefined : eq(agents.slug, instanceId));
  const subject = subjectIn(query);
  const wanted = and(
    subject === undefined ? undefined : eq(memories.subject, subject),
    category ? eq(memories.category, category) : undefined,
    search ? found(search) : undefined,
  );
  // Only few memories may match the category or the words. Reading the newest of each agent first would then read all.
  const findPage = category || search ? newestOfAll : newestOfEach;
  const page = findPage(ctx, { reached, wanted, limit, offset });
  const rows = await ctx.db
    .select({ memory: memories, slug: agents.slug, ref: conversations.ref })
    .from(page)
    .innerJoin(memories, eq(memories.id, page.id))
    .innerJoin(agents, eq(agents.id, memories.agentId))
    .leftJoin(conversations, eq(conversations.id, memories.sourceConversationId))
    .orderBy(...newestFirst);
  const matches = ctx.db
    .select({ id: memories.id })
    .from(memories)
    .innerJoin(agents, eq(agents.id, memories.agentId))
    .where(and(reached, wanted));
  const total = await countTotal(ctx.db, rows.length, { limit, offset }, matches);
  return { memories: rows.map(({ memory, slug, ref }) => toMemory(memory, slug, ref)), total, limit, offset };
}

const newestFirst = [desc(memories.updatedAt), desc(memories.id)];

interface MemoryFilter {
  /** The condition on agents. */
  reached: SQL | undefined;
  /** The condition on memories. */
  wanted: SQL | undefined;
  limit: number;
  offset: number;
}

/**
 * Reads from each agent as many as the pages so far need, in the order of an index: sorting all would take 50 times as
 * long.
 */
function newestOfEach({ db }: Ctx, { reached, wanted, limit, offset }: MemoryFilter) {
  const newest = db
    .select({ id: memories.id, updatedAt: memories.updatedAt })
    .from(memories)
    .where(and(eq(memories.agentId, agents.id), wanted))
    .orderBy(...newestFirst)
    .limit(offset + limit)
    .as("newest");
  return db
    .select({ id: newest.id })
    .from(agents)
    .crossJoinLateral(newest)
    .where(reached)
    .orderBy(desc(newest.updatedAt), desc(newest.id))
    .limit(limit)
    .offset(offset)
    .as("page");
}

function newestOfAll({ db }: Ctx, { reached, wanted, limit, offset }: MemoryFilter) {
  return db
    .select({ id: memories.id })
    .from(memories)
    .innerJoin(agents, eq(agents.id, memories.agentId))
    .where(and(reached, wanted))
    .orderBy(...newestFirst)
    .limit(limit)
    .offset(offset)
    .as("page");
}

/** The condition of a search. A search without words, such as for a single sign, looks for the text itself. */
function found(search: string): SQL {
  const query = queryForAll(search);
  if (query === null) return sql`strpos(${memories.content}, ${search.trim()}) > 0`;
  return sql`${memories.search} @@ ${query}::tsquery`;
}

/** Stores a memory. Throws the 404 of the agent. */
export async function createMemory(ctx: Ctx, { instanceId, ...fact }: NewMemory): Promise<SavedMemory> {
  const agent = await findAgent(ctx, instanceId);
  const summary: Record<string, unknown> = {};
  const change = { action: "memory.create", target: agent.slug, agentId: agent.id, agentUnchanged: true, summary };
  try {
    const { memory, event } = await unlessOvertaken(() =>
      write(ctx, change, async (tx) => {
        const saved = await storeMemory(queriesOf(tx), { ...fact, agent, subject: subjectIn(fact) ?? "" });
        Object.assign(summary, { memoryId: saved.memory.id, event: saved.event });
        await enqueueEmbedding(ctx, tx, agent);
        return saved;
      }),
    );
    return { memory: await withSource(ctx, memory, agent.slug), event };
  } catch (error) {
    throw sqlState(error) === "23503" ? notFound("Agent") : error;
  }
}

/** Deletes the reachable memories that match the filter, and returns their number. Throws the 404 of the agent. */
export async function deleteMemories(ctx: Ctx, { instanceId, ...named }: MemoryDeletion): Promise<number> {
  const subject = subjectIn(named);
  const agent = instanceId === undefined ? null : await findAgent(ctx, instanceId);
  const summary: Record<string, unknown> = { ...named };
  const where = agent
    ? { target: agent.slug, agentId: agent.id, agentUnchanged: true }
    : { target: ctx.membership.organizationSlug };
  const unchanged = () => summary.count === 0;
  return write(ctx, { action: "memory.delete-all", ...where, summary, unchanged }, async (tx) => {
    const reached = tx
      .select({ id: agents.id })
      .from(agents)
      .where(and(withinReach(ctx), agent ? eq(agents.id, agent.id) : undefined));
    const gone = tx.$with("gone").as(
      tx
        .delete(memories)
        .where(
          and(inArray(memories.agentId, reached), subject === undefined ? undefined : eq(memories.subject, subject)),
        )
        .returning({ id: memories.id }),
    );
    const [row] = await tx.with(gone).select({ count: sql<number>`count(*)::int` }).from(gone);
    summary.count = row?.count ?? 0;
    return row?.count ?? 0;
  });
}

/** Deletes a memory. Throws the 404. */
export async function deleteMemory(ctx: Ctx, id: string): Promise<void> {
  const [known] = await ctx.db
    .select({ slug: agents.slug, agentId: agents.id })
    .from(memories)
    .innerJoin(agents, eq(agents.id, memories.agentId))
    .where(and(hasId(memories.id, id), withinReach(ctx)));
  if (!known) throw notFound("Memory");
  const { slug, agentId } = known;
  const change = { action: "memory.delete", target: slug, agentId, agentUnchanged: true, summary: { memoryId: id } };
  await write(ctx, change, async (tx) => {
    const gone = await tx.delete(memories).where(eq(memories.id, id)).returning({ id: memories.id });
    if (gone.length === 0) throw notFound("Memory");
  });
}

/** Adds the conversation of an updated memory, if it has one. */
async function withSource(ctx: Ctx, memory: MemoryRow, slug: string): Promise<Memory> {
  if (memory.sourceConversationId === null) return toMemory(memory, slug, null);
  const [conversation] = await ctx.db
    .select({ ref: conversations.ref })
    .from(conversations)
    .where(eq(conversations.id, memory.sourceConversationId));
  return toMemory(memory, slug, conversation?.ref ?? null);
}

/** A memory in its API form. */
function toMemory(row: MemoryRow, slug: string, ref: string | null): Memory {
  const { id, content, category, importance, subject } = row;
  return {
    id,
    instanceId: slug,
    content,
    category,
    importance,
    ...shownSubject(subject),
    sourceConversationId: ref,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
