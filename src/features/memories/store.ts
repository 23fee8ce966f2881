import { and, desc, eq, getTableColumns, ne, or, sql } from "drizzle-orm";
import { digest } from "../../core/ids.ts";
import { clip, storable } from "../../core/text.ts";
import { writeArray } from "../../db/arrays.ts";
import type { Database, Db } from "../../db/client.ts";
import { unlessOvertaken } from "../../db/retry.ts";
import { conversations, memories } from "../../db/schema.ts";
import { nearDuplicate } from "./rules.ts";
import { longestContent } from "./schema.ts";
import { canonical, distinctiveWords, indexTerms, queryForAny } from "./text.ts";

/** So many memories with the most words in common are compared with a new fact. */
const compared = 100;

/** The normalization of `ts_rank` that puts the shorter of two equal ones first. */
const byLength = "16";

/**
 * So many memories of one subject an agent keeps; beyond, the least important are deleted, the oldest of them first.
 */
export const subjectLimit = 10_000;

export interface Fact {
  agent: { id: string; organizationId: string };
  /** The end user it is about; empty: nobody in particular. */
  subject: string;
  content: string;
  /** Absent: that of the memory which it updates, else `general`. */
  category?: string | undefined;
  /** 1 to 10. Absent: that of the memory which it updates, else 5. */
  importance?: number | undefined;
  /** Where it was said. */
  conversationId?: string | undefined;
}

export type MemoryRow = Omit<typeof memories.$inferSelect, "digest" | "search">;

export interface Saved {
  memory: MemoryRow;
  /** `UPDATE`: the fact replaced a memory of the same subject that said the same or nearly so. */
  event: "ADD" | "UPDATE";
}

/**
 * Stores a fact, or updates the memory that says nearly the same. Rejects with the database's 23503 when the agent is
 * gone.
 */
export function saveMemory({ db }: Database, fact: Fact): Promise<Saved> {
  return unlessOvertaken(() => storeMemory(db, fact));
}

/** `saveMemory` inside a transaction, which the caller retries. */
export async function storeMemory(db: Db, fact: Fact): Promise<Saved> {
  const content = clip(storable(fact.content).trim(), longestContent);
  const columns = { content, digest: await digest(canonical(content)), search: searchColumn(content) };
  const known = await findKnown(db, fact, content, columns.digest);
  const updated = known === null ? undefined : await update(db, known, fact, columns);
  return updated ? { memory: updated, event: "UPDATE" } : insert(db, fact, columns);
}

const searchColumn = (content: string) => sql<string>`array_to_tsvector(${writeArray(indexTerms(content))}::text[])`;

interface Columns {
  content: string;
  digest: Uint8Array;
  search: ReturnType<typeof searchColumn>;
}

const about = ({ agent, subject }: Fact) => and(eq(memories.agentId, agent.id), eq(memories.subject, subject));

/**
 * The id of the memory that says the same or else nearly so; null for none. `is true` keeps the planner from the index
 * over the words of all end users.
 */
async function findKnown(db: Db, fact: Fact, content: string, digest: Uint8Array): Promise<string | null> {
  const same = sql<boolean>`${eq(memories.digest, digest)}`;
  const query = sql`${queryForAny(distinctiveWords(content))}::tsquery`;
  const alike = await db
    .select({ id: memories.id, content: memories.content, same })
    .from(memories)
    .where(and(about(fact), or(same, sql`(${memories.search} @@ ${query}) is true`)))
    .orderBy(
      desc(same),
      desc(sql`ts_rank(${memories.search}, ${query}, ${sql.raw(byLength)})`),
      desc(memories.updatedAt),
    )
    .limit(compared);
  const known = alike.find((one) => one.same) ?? nearDuplicate(content, alike);
  return known?.id ?? null;
}

const { digest: _digest, search: _search, ...returned } = getTableColumns(memories);

/** The conversation of the fact, or null when it is gone. */
const source = ({ agent, conversationId }: Fact) =>
  conversationId === undefined
    ? null
    : sql<string>`(
        select ${conversations.id} from ${conversations}
        where ${conversations.id} = ${conversationId} and ${conversations.agentId} = ${agent.id})`;

/** Undefined when the memory was deleted meanwhile. */
async function update(db: Db, id: string, fact: Fact, columns: Columns): Promise<MemoryRow | undefined> {
  const { category, importance } = fact;
  const [memory] = await db
    .update(memories)
    .set({
      ...columns,
      category,
      importance,
      ...(fact.conversationId === undefined ? {} : { sourceConversationId: source(fact) }),
      updatedAt: sql`now()`,
    })
    .where(and(eq(memories.id, id), about(fact)))
    .returning(returned);
  return memory;
}

async function insert(db: Db, fact: Fact, columns: Columns): Promise<Saved> {
  const { agent, subject, category, importance } = fact;
  const [row] = await db
    .insert(memories)
    .values({
      ...columns,
      ...{ agentId: agent.id, organizationId: agent.organizationId, subject, category, importance },
      sourceConversationId: source(fact),
    })
    .onConflictDoUpdate({
      target: [memories.agentId, memories.subject, memories.digest],
      set: { ...columns, category, importance, updatedAt: sql`now()` },
    })
    .returning({ ...returned, added: sql<boolean>`(xmax = 0)` });
  if (!row) throw new Error("The insert answered no row");
  const { added, ...memory } = row;
  if (added) await makeRoom(db, fact, memory.id);
  return { memory, event: added ? "ADD" : "UPDATE" };
}

/** Deletes memories beyond the limit, but never the new one, whose caller was told that it is stored. */
async function makeRoom(db: Db, fact: Fact, newId: string): Promise<void> {
  const surplus = db
    .select({ id: memories.id })
    .from(memories)
    .where(and(about(fact), ne(memories.id, newId)))
    .orderBy(desc(memories.importance), desc(memories.updatedAt))
    .offset(subjectLimit - 1);
  // `array` makes the selection run once; of `in` a planner without statistics may run it for each row.
  await db.delete(memories).where(sql`${memories.id} = any(array(${surplus}))`);
}
