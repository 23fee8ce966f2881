import { and, desc, eq, sql } from "drizzle-orm";
import { chatOf, type MessengerName, namesPerson } from "../../../core/channels/messengers.ts";
import { subjectKey } from "../../../core/channels/subjects.ts";
import type { Db } from "../../../db/client.ts";
import { conversations, messages } from "../../../db/schema.ts";
import type { Place } from "./outgoing.ts";

// At Slack a place may be named by a person's id, and the person's private chat, in which they answer, has another one.

/**
 * Has a text to a person by their id and the first word in their private chat go one after the other. A text that is
 * stored while that word is would neither find the chat nor be taken over.
 */
const lockTold = (tx: Db, told: string) => tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${told}, 0))`);

/** The chat at a place: of a person the private one in which they last wrote, else what the place names. */
export async function chatAt(
  tx: Db,
  { agentId, channel, target, told }: Place & Pick<FirstWord, "told"> & { channel: MessengerName },
): Promise<string> {
  if (!namesPerson(channel, target)) return target;
  const known = await findPrivate(tx, agentId, target);
  if (known) return known;
  // Only now: whoever stores a first word holds its chat, for which a text would wait with this lock.
  await lockTold(tx, told);
  return (await findPrivate(tx, agentId, target)) ?? target;
}

async function findPrivate(tx: Db, agentId: string, person: string): Promise<string | null> {
  const { channel, channelId, subject, updatedAt } = conversations;
  // Not a parameter, with which a plan for all values could not use the index of Slack's people.
  const isOfSlack = sql`${channel} = 'slack'`;
  const isTheirs = and(eq(conversations.agentId, agentId), isOfSlack, eq(subject, subjectKey("slack", person)));
  const [found] = await tx.select({ channelId }).from(conversations).where(isTheirs).orderBy(desc(updatedAt)).limit(1);
  return found ? chatOf(found.channelId) : null;
}

interface FirstWord {
  agentId: string;
  /** The conversation of the private chat, which is locked. */
  conversationId: string;
  /** The public id of the conversation at the place of the person's id. */
  told: string;
}

/** Moves the messages sent to a person's id before their first message into their private chat. */
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
