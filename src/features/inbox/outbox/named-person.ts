import { and, desc, eq, sql } from "drizzle-orm";
import { chatOf, type MessengerName, namesPerson } from "../../../core/channels/messengers.ts";
import { subjectKey } from "../../../core/channels/subjects.ts";
import type { Db } from "../../../db/client.ts";
import { conversations, messages } from "../../../db/schema.ts";
import type { Destination } from "./outgoing.ts";

// At Slack a target may be a person's id, while the private chat with that person has another id.

/**
 * Orders a text to a person's id and the first message in that person's private chat: stored at the same time, the text
 * would neither find the chat nor be moved into it.
 */
const lockTold = (tx: Db, told: string) => tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${told}, 0))`);

/** The chat of a destination: for a person, the private chat in which they last wrote; else the target itself. */
export async function chatAt(
  tx: Db,
  { agentId, channel, target, told }: Destination & Pick<FirstWord, "told"> & { channel: MessengerName },
): Promise<string> {
  if (!namesPerson(channel, target)) return target;
  const known = await findPrivate(tx, agentId, target);
  if (known) return known;
  // Locks only after the look-up: a first message locks its chat first, and would then wait for this lock.
  await lockTold(tx, told);
  return (await findPrivate(tx, agentId, target)) ?? target;
}

async function findPrivate(tx: Db, agentId: string, person: string): Promise<string | null> {
  const { channel, channelId, subject, updatedAt } = conversations;
  // A literal, since a plan for any parameter could not use the index of Slack's people.
  const isOfSlack = sql`${channel} = 'slack'`;
  const isTheirs = and(eq(conversations.agentId, agentId), isOfSlack, eq(subject, subjectKey("slack", person)));
  const [found] = await tx.select({ channelId }).from(conversations).where(isTheirs).orderBy(desc(updatedAt)).limit(1);
  return found ? chatOf(found.channelId) : null;
}

interface FirstWord {
  agentId: string;
  /** The conversation of the private chat. The caller has locked it. */
  conversationId: string;
  /** The public id of the conversation that is named by the person's id. */
  told: string;
}

/** Moves messages that were sent to a person's id before their first message into their private chat. */
export async function takeOverTold(tx: Db, { agentId, conversationId, told: ref }: FirstWord): Promise<void> {
  await lockTold(tx, ref);
  const { lastSeq, messageCount } = conversations;
  const own = eq(conversations.id, conversationId);
  const [told] = await tx
    .select({ id: conversations.id, lastSeq, messageCount })
    .from(conversations)
    .where(and(eq(conversations.agentId, agentId), eq(conversations.ref, ref)))
    .for("update");
  if (!told?.messageCount) return;
  const behind = sql`${messages.seq} + (select ${lastSeq} from ${conversations} where ${own})`;
  await tx.update(messages).set({ conversationId, seq: behind }).where(eq(messages.conversationId, told.id));
  const counted = {
    lastSeq: sql`${lastSeq} + ${told.lastSeq}`,
    messageCount: sql`${messageCount} + ${told.messageCount}`,
  };
  await tx.update(conversations).set(counted).where(own);
  await tx.update(conversations).set({ messageCount: 0 }).where(eq(conversations.id, told.id));
}
