import { and, eq, notExists, or, sql } from "drizzle-orm";
import { chatOf, inChat, type MovedChat } from "../../../core/channels/messengers.ts";
import type { Db } from "../../../db/client.ts";
import { conversations, movedChats } from "../../../db/schema.ts";

/** Where an agent's channel knows a chat. */
interface Of {
  agentId: string;
  channel: string;
}

/** Notes that a chat has another id now. */
export async function noteMoved(db: Db, { agentId, channel }: Of, { movedFrom, movedTo }: MovedChat): Promise<void> {
  await db
    .insert(movedChats)
    .values({ agentId, channel, chatId: movedFrom, movedTo })
    .onConflictDoUpdate({
      target: [movedChats.agentId, movedChats.channel, movedChats.chatId],
      set: { movedTo },
    });
}

/**
 * A place of a chat that moved, as its conversation, targets and waiting work know it. A chat that was written in under
 * its new id before the move was known keeps that.
 */
export async function knownPlace(db: Db, of: Of & { slug: string }, channelId: string): Promise<string> {
  if (!mayMove(of.channel, channelId)) return channelId;
  const own = db
    .select({ found: sql`1` })
    .from(conversations)
    .where(eq(conversations.ref, `${of.slug}:${of.channel}:${channelId}`));
  const isNow = eq(movedChats.movedTo, chatOf(channelId));
  const [known] = await db
    .select({ chatId: movedChats.chatId })
    .from(movedChats)
    .where(and(isOf(of), isNow, notExists(own)))
    .limit(1);
  return known ? inChat(channelId, known.chatId) : channelId;
}

/** A place as its messenger knows it now. */
export async function placeNow(db: Db, of: Of, channelId: string): Promise<string> {
  if (!mayMove(of.channel, channelId)) return channelId;
  const [moved] = await db
    .select({ movedTo: movedChats.movedTo })
    .from(movedChats)
    .where(and(isOf(of), eq(movedChats.chatId, chatOf(channelId))));
  return moved ? inChat(channelId, moved.movedTo) : channelId;
}

/** A place under every id that its chat has or had: all of them mean one place. */
export async function idsOfPlace(db: Db, of: Of, channelId: string): Promise<string[]> {
  if (!mayMove(of.channel, channelId)) return [channelId];
  const { chatId, movedTo } = movedChats;
  const isIt = or(eq(chatId, chatOf(channelId)), eq(movedTo, chatOf(channelId)));
  const moved = await db
    .select({ chatId, movedTo })
    .from(movedChats)
    .where(and(isOf(of), isIt));
  const chats = moved.flatMap((one) => [one.chatId, one.movedTo]);
  return [...new Set([channelId, ...chats.map((chat) => inChat(channelId, chat))])];
}

const isOf = ({ agentId, channel }: Of) => and(eq(movedChats.agentId, agentId), eq(movedChats.channel, channel));

/** Only groups of Telegram do, whose ids are negative: no other message waits for the look. */
const mayMove = (channel: string, channelId: string) => channel === "telegram" && channelId.startsWith("-");
