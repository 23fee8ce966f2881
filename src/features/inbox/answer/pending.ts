import { and, asc, eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { agents, conversations, inbox } from "../../../db/schema.ts";
import { readPayload } from "../intake/payload.ts";
import { mostMessages, type PendingMessage } from "./batch.ts";

export type PendingConversation = NonNullable<Awaited<ReturnType<typeof readPending>>>;

/** A conversation with its unanswered messages, oldest first; null without any. */
export async function readPending(db: Db, conversationId: string) {
  const { id, ref, channel, channelId, organizationId, lastInboxSeq } = conversations;
  const { slug, active, typingDelayMs, maxRestarts, attachmentsEnabled } = agents;
  const [found] = await db
    .select({
      conversation: { id, ref, channel, channelId, organizationId, lastInboxSeq },
      agent: { id: agents.id, slug, active, typingDelayMs, maxRestarts, attachmentsEnabled },
    })
    .from(conversations)
    .innerJoin(agents, eq(agents.id, conversations.agentId))
    .where(eq(id, conversationId));
  if (!found) return null;
  const { seq, providerId, sender, payload, restarts, attempts } = inbox;
  const rows = await db
    .select({ id: inbox.id, seq, providerId, sender, payload, restarts, attempts })
    .from(inbox)
    .where(and(eq(inbox.conversationId, conversationId), eq(inbox.status, "pending")))
    .orderBy(asc(seq))
    // One row more than the most shows that messages are left.
    .limit(mostMessages + 1);
  const messages = rows.map(({ payload, ...row }): PendingMessage => ({ ...row, ...readPayload(payload) }));
  const [oldest, ...others] = messages;
  if (!oldest) return null;
  const lastSeq = Math.max(found.conversation.lastInboxSeq, ...messages.map((message) => message.seq));
  return { ...found, messages: [oldest, ...others] as const, lastSeq };
}

/** The number of a conversation's last message; 0 for a deleted conversation. */
export async function newestSeq(db: Db, conversationId: string): Promise<number> {
  const [row] = await db
    .select({ seq: conversations.lastInboxSeq })
    .from(conversations)
    .where(eq(conversations.id, conversationId));
  return row?.seq ?? 0;
}
