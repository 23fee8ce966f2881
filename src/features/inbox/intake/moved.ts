import { and, eq, notExists, or, sql } from "drizzle-orm";
import { chatOf, inChat, type MovedChat } from "../../../core/channels/messengers.ts";
import type { Db } from "../../../db/client.ts";
import { conversations, movedChats } from "../../../db/schema.ts";

/** The agent's channel of a chat. */
interface AgentChat {
  agentId: string;
  channel: string;
}

/** Stores a chat's new id. */
export async function noteMoved(
  db: Db,
  { agentId, channel }: AgentChat,
  { movedFrom, movedTo }: MovedChat,
): Promise<void> {
  await db
    .insert(movedChats)
    .values({ agentId, channel, chatId: movedFrom, movedTo })
    .onConflictDoUpdate({
      target: [movedChats.agentId, movedChats.channel, movedChats.chatId],
      set: { movedTo },
    });
}

/**
 * The known form of a destination in a moved chat, used by its conversation, targets and waiting work. A chat that was
 * already used under its new id keeps that id.
 */
export async function knownPlace(db: Db, of: AgentChat & { slug: string }, channelId: string): Promise<string> {
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

/** A destination with its chat's current id. */
export async function placeNow(db: Db, of: AgentChat, channelId: string): Promise<string> {
  if (!mayMove(of.channel, channelId)) return channelId;
  const [moved] = await db
    .select({ movedTo: movedChats.movedTo })
    .from(movedChats)
    .where(and(isOf(of), eq(movedChats.chatId, chatOf(channelId))));
  return moved ? inChat(channelId, moved.movedTo) : channelId;
}

/** All forms of a destination: with every current and former id of its chat. */
export async function idsOfPlace(db: Db, of: AgentChat, channelId: string): Promise<string[]> {
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

const isOf = ({ agentId, channel }: AgentChat) => and(eq(movedChats.agentId, agentId), eq(movedChats.channel, channel));

/** Only Telegram groups get a new id. Their ids are negative, so other messages skip the look-up. */
const mayMove = (channel: string, channelId: string) => channel === "telegram" && channelId.startsWith("-");
