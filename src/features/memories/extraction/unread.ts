import { and, between, desc, eq, gt, lt, ne, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { agents, conversations, messages, turns } from "../../../db/schema.ts";
import { batchMessages, type Unread } from "../rules.ts";
import { longestMessage, type Said } from "./prompt.ts";

/** A conversation to learn from, and how far it was read. */
export interface Source {
  conversationId: string;
  agent: { id: string; organizationId: string; slug: string; memoryEnabled: boolean };
  /** Whether the agent learns from this conversation. */
  learns: boolean;
  /** `seq` of the last message that was read. */
  extracted: number;
  lastSeq: number;
}

/** Undefined when the conversation is gone. */
export async function findSource({ db }: Database, conversationId: string): Promise<Source | undefined> {
  const { id, organizationId, slug, memoryEnabled } = agents;
  const [row] = await db
    .select({
      agent: { id, organizationId, slug, memoryEnabled },
      learns: sql<boolean>`${agents.memoryEnabled} and ${agents.fastModel} is not null and ${conversations.channel} <> 'agent'`,
      extracted,
      lastSeq: conversations.lastSeq,
    })
    .from(conversations)
    .innerJoin(agents, eq(agents.id, conversations.agentId))
    .where(eq(conversations.id, conversationId));
  return row && { conversationId, ...row };
}

const extracted = sql<number>`coalesce((${conversations.metadata} ->> 'extractedSeq')::int, 0)`;
const content = sql<string>`left(${messages.content}, ${longestMessage})`;

/** Messages with known end users, answered by a model that does more than repeat. */
const learnable = and(eq(turns.source, "user"), ne(turns.subject, ""), sql`${turns.provider} is distinct from 'demo'`);

/** The next messages to learn from: one more than a batch takes, so that a rest shows. */
export function readUnread({ db }: Database, { conversationId, extracted }: Source): Promise<Unread[]> {
  const { seq, role } = messages;
  return db
    .select({ seq, role, content, subject: turns.subject })
    .from(messages)
    .innerJoin(turns, eq(turns.id, messages.turnId))
    .where(and(eq(messages.conversationId, conversationId), gt(seq, extracted), learnable))
    .orderBy(seq)
    .limit(batchMessages + 1);
}

/** So many earlier messages are shown, out of so many before, so that a "yes" can be understood. */
const [shown, among] = [4, 100];

/** The last messages with the same end user before a message, oldest first. */
export async function readEarlier(
  { db }: Database,
  { conversationId }: Source,
  { subject, seq }: Pick<Unread, "subject" | "seq">,
): Promise<Said[]> {
  const earlier = between(messages.seq, seq - among, seq - 1);
  const said = await db
    .select({ role: messages.role, content, earlier: sql<true>`true` })
    .from(messages)
    .innerJoin(turns, eq(turns.id, messages.turnId))
    .where(
      and(eq(messages.conversationId, conversationId), earlier, eq(turns.subject, subject), eq(turns.source, "user")),
    )
    .orderBy(desc(messages.seq))
    .limit(shown);
  return said.toReversed();
}

/** The metadata of a conversation whose messages up to `seq` count as read. */
export function withExtracted(seq: SQL): SQL {
  return sql`${conversations.metadata} || jsonb_build_object('extractedSeq', (${seq})::int)`;
}

/** Marks the messages up to `seq` as read. A run that ends late takes nothing back. */
export async function markRead({ db }: Database, { conversationId }: Source, seq: number): Promise<void> {
  await db
    .update(conversations)
    .set({ metadata: withExtracted(sql`${seq}`) })
    .where(and(eq(conversations.id, conversationId), lt(extracted, seq)));
}
