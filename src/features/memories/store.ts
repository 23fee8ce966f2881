import type { ActingAgent, Activity } from "../../core/activity/activity.ts";
import { previewOfText } from "../../core/activity/preview.ts";
import type { SubjectKey } from "../../core/channels/subjects.ts";
import { digest, newId, toHex } from "../../core/ids.ts";
import { clip, storable } from "../../core/text/text.ts";
import { indexTerms } from "../../core/text/words.ts";
import type { Database, Queries } from "../../db/client.ts";
import { unlessOvertaken } from "../../db/retry.ts";
import { nearDuplicate } from "./rules.ts";
import { longestContent } from "./schema.ts";
import { type MemoryRow, readAlike, type WrittenFact, writeFacts } from "./store-statements.ts";
import { canonical, distinctiveWords, queryForAny } from "./text.ts";

export type { MemoryRow } from "./store-statements.ts";

export interface Fact {
  agent: { id: string; organizationId: string };
  /** The end user; empty for a fact about no particular one. */
  subject: SubjectKey;
  content: string;
  /** Absent: that of the updated memory, else `general`. */
  category?: string | undefined;
  /** 1 to 10. Absent: that of the updated memory, else 5. */
  importance?: number | undefined;
  /** The conversation that the fact comes from. */
  conversationId?: string | undefined;
  /** Whether the subject probably has no memory. If it really has none, the fact is stored without a comparison. */
  first?: boolean | undefined;
}

export interface Saved {
  memory: MemoryRow;
  /** `UPDATE`: the fact replaced a memory of the same subject with the same or nearly the same meaning. */
  event: "ADD" | "UPDATE";
}

/**
 * Stores a fact, or updates the memory with nearly the same meaning. Rejects with the database's 23503 for a deleted
 * agent.
 */
export function saveMemory(database: Queries, fact: Fact): Promise<Saved> {
  return unlessOvertaken(() => storeMemory(database, fact));
}

/** `saveMemory` for many facts at once. */
export async function saveMemories(database: Database, facts: readonly Fact[]): Promise<Saved[]> {
  // Facts of one end user are stored one after the other: each is compared with the memories before it.
  const first = new Map(facts.map((fact) => [fact.agent.id + fact.subject, fact] as const).reverse());
  const apart = [...first.values()];
  const stored = facts.length === 1 ? [] : await storeMemories(database, apart);
  const saved = new Map(apart.map((fact, index) => [fact, stored[index]] as const));
  const results: Saved[] = [];
  for (const fact of facts) results.push(saved.get(fact) ?? (await saveMemory(database, fact)));
  return results;
}

/** `saveMemory` in a transaction, which the caller retries. */
export async function storeMemory(queries: Queries, fact: Fact): Promise<Saved> {
  const [saved] = await storeMemories(queries, [fact]);
  return saved ?? storeMemory(queries, { ...fact, first: false });
}

/**
 * Stores facts of different subjects or agents. A result is undefined when the memory to update was deleted meanwhile,
 * or when the fact should have been its subject's first one and is not.
 */
async function storeMemories(queries: Queries, facts: readonly Fact[]): Promise<(Saved | undefined)[]> {
  const prepared = await Promise.all(facts.map(prepare));
  const compared = prepared.filter(({ first }) => !first);
  const alike = Map.groupBy(compared.length > 0 ? await readAlike(queries, compared) : [], ({ nth }) => nth);
  const written = prepared.map((fact): WrittenFact => {
    const found = alike.get(fact.nth) ?? [];
    const known = found.find(({ same }) => same) ?? nearDuplicate(fact.content, found);
    return { ...fact, known: known?.id ?? null };
  });
  const rows = new Map((await writeFacts(queries, written)).map((row) => [row.nth, row]));
  return written.map(({ nth }) => {
    const row = rows.get(nth);
    return row && { memory: row.memory, event: row.added ? "ADD" : "UPDATE" };
  });
}

async function prepare(fact: Fact, nth: number): Promise<Omit<WrittenFact, "known">> {
  const { agent, subject, category = null, importance = null, conversationId = null, first = false } = fact;
  const content = clip(storable(fact.content).trim(), longestContent);
  return {
    nth,
    id: newId(),
    agentId: agent.id,
    organizationId: agent.organizationId,
    subject,
    content,
    category,
    importance,
    conversationId,
    first,
    digest: toHex(await digest(canonical(content))),
    words: queryForAny(distinctiveWords(content)),
    search: indexTerms(content),
  };
}

/** The activity event of a stored memory. Texts of a model contain no secret. */
export function writtenMemory(
  agent: ActingAgent,
  conversationId: string,
  { event, memory }: Pick<Saved, "event" | "memory">,
): Activity {
  const content = previewOfText(memory.content);
  const text = event === "ADD" ? "The agent remembers something new" : "The agent corrected what it remembers";
  return { kind: "memory", text, agent, conversationId, memory: { event, content } };
}
