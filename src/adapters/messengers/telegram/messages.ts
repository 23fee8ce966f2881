import type { Arrival, Incoming, MovedChat } from "../../../core/channels/messengers.ts";
import { isObject, type JsonObject } from "../../../core/json.ts";
import { clip, storable } from "../../../core/text/text.ts";
import { integerOf, objectOf, textOf } from "../fields.ts";
import { filesOf } from "./files.ts";
import { personOf, quotesOf } from "./quotes.ts";
import { described, linkOf, withSpans, wordsIn, writtenIn } from "./words.ts";

export interface Reader {
  /** The bot's id at Telegram; null when the bot's token does not contain it. */
  botId: number | null;
  /** Returns the bot's name without `@`, which group messages mention; may reject. */
  botName(): Promise<string>;
  /** The ids of the allowed people, and of chats in whose name people write. */
  allowedUserIds: readonly string[];
}

/** The kinds of updates that contain people's messages. */
export const allowedUpdates = ["message", "edited_message"];

/** The longest album id; Telegram's have some 20 digits. */
const longestAlbumId = 64;

/**
 * How long after a message its edits count, in milliseconds. People can edit a message for 48 hours, and Telegram
 * stores an update for 24. Telegram also reports reactions as edits, at any time.
 */
const editableMs = 72 * 3_600_000;

/**
 * The arrivals of an update (https://core.telegram.org/bots/api#update); empty when none is for the agent. `now` is in
 * milliseconds since the epoch.
 */
export async function readUpdate(update: unknown, reader: Reader, now: number): Promise<Arrival[]> {
  const { message: sent, edited_message: edited } = objectOf(update);
  const isEdit = !isObject(sent);
  const message = objectOf(isEdit ? edited : sent);
  if (isEdit && (integerOf(message.date) ?? 0) * 1_000 < now - editableMs) return [];
  const arrival = movedIn(message) ?? (await readMessage(message, isEdit, reader));
  return arrival === null ? [] : [arrival];
}

/** The move of a group that became a supergroup, which both chats report. */
function movedIn(message: JsonObject): MovedChat | null {
  const { migrate_from_chat_id, migrate_to_chat_id, chat } = message;
  const id = objectOf(chat).id;
  const [from, to] = [integerOf(migrate_from_chat_id ?? id), integerOf(migrate_to_chat_id ?? id)];
  return from === null || to === null || from === to ? null : { movedFrom: String(from), movedTo: String(to) };
}

async function readMessage(message: JsonObject, isEdit: boolean, reader: Reader): Promise<Incoming | null> {
  const chat = objectOf(message.chat);
  const [chatId, messageId] = [chat.id, message.message_id].map(integerOf);
  const person = personOf(message);
  if (chatId == null || messageId == null || !person || person.isBot) return null;
  if (!isAllowed(reader.allowedUserIds, person.id)) return null;
  const isPrivate = chat.type === "private";
  if (!isPrivate && chat.type !== "group" && chat.type !== "supergroup") return null;
  const said = isPrivate ? { text: wordsIn(message), isMeant: true } : await saidInGroup(message, reader);
  const albumId = clip(storable(textOf(message.media_group_id)), longestAlbumId);
  if (!said.isMeant && (albumId === "" || isEdit)) return null;
  const isForward = isObject(message.forward_origin);
  const { quotes, files: quoted } = quotesOf(message, { ...reader, sender: person.id, text: said.text });
  const files = filesOf(message);
  // Edits are not described, since Telegram reports each move of a live location as an edit.
  const text = isForward ? "" : said.text || (isEdit ? "" : described(message));
  if (text === "" && files.length === 0 && (isEdit || quotes.length === 0)) return null;
  const topic = message.is_topic_message === true ? integerOf(message.message_thread_id) : null;
  // Telegram numbers the messages of private chats and small groups separately for each bot.
  const providerId = [reader.botId, chatId, messageId].filter((part) => part !== null).join(":");
  return {
    providerId: isEdit ? `${providerId}:${integerOf(message.edit_date) ?? 0}` : providerId,
    channelId: topic === null ? String(chatId) : `${chatId}:${topic}`,
    sender: person.id,
    senderName: person.name,
    isPrivate,
    text,
    quotes,
    files: [...files, ...quoted],
    edits: isEdit ? providerId : null,
    album: albumId === "" ? null : { id: albumId, isMeant: said.isMeant },
  };
}

/** Whether the agent answers a person; an empty list allows everyone. */
export const isAllowed = (allowedUserIds: readonly string[], userId: string): boolean =>
  allowedUserIds.length === 0 || allowedUserIds.includes(userId);

/** The text of a group message without the bot's mention, and whether the message addresses the bot. */
async function saidInGroup(
  message: JsonObject,
  { botId, botName }: Reader,
): Promise<{ text: string; isMeant: boolean }> {
  const written = writtenIn(message);
  const name = written.spans.some(isNamed) ? (await botName()).toLowerCase() : null;
  let isMeant = isReplyTo(message.reply_to_message, botId);
  const text = withSpans(written, (span) => {
    const rest = withoutBot(span, botId, name);
    if (rest !== null) isMeant = true;
    return rest ?? linkOf(span.entity, span.text);
  });
  return { text: storable(text.replaceAll(/ {2,}/g, " ").trim() || written.raw.trim()), isMeant };
}

type Span = ReturnType<typeof writtenIn>["spans"][number];

/** Whether a span mentions a person or bot by `@` and name. */
const isNamed = ({ entity: { type }, text }: Span) =>
  (type === "mention" || type === "bot_command") && text.includes("@");

/** The text of a span without the bot's name; null when the span does not mention the bot. */
function withoutBot(span: Span, botId: number | null, botName: string | null): string | null {
  const { entity, text } = span;
  if (entity.type === "text_mention") return botId !== null && objectOf(entity.user).id === botId ? "" : null;
  if (!isNamed(span)) return null;
  const [before = "", name = ""] = text.split("@");
  return name.toLowerCase() === botName ? before : null;
}

/** Whether a message replies to the bot. Every message of a topic replies to the notice that created the topic. */
function isReplyTo(value: unknown, botId: number | null): boolean {
  const reply = objectOf(value);
  return botId !== null && objectOf(reply.from).id === botId && reply.forum_topic_created === undefined;
}
