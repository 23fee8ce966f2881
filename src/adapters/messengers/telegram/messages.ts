import type { Incoming, IncomingFile } from "../../../core/channels/messengers.ts";
import { isObject, type JsonObject } from "../../../core/json.ts";
import { storable } from "../../../core/text/text.ts";
import { fileNameOf, integerOf, listOf, mimeOf, nameOf, objectOf, sizeOf, textOf } from "../fields.ts";

interface Reader {
  /** The bot's id at Telegram; null where its token names none. */
  botId: number | null;
  /** The bot's name without `@`. Only asked for where a group's message mentions somebody; may reject. */
  botName(): Promise<string>;
  allowedUserIds: readonly string[];
}

/** The updates that hold messages of people. */
export const allowedUpdates = ["message", "edited_message"];

/**
 * People can edit a message for 48 hours, and Telegram holds an update for 24. Later edits are none of a person: Telegram
 * tells of reactions as edits too.
 */
const editableMs = 72 * 3_600_000;

/**
 * The message in an update (https://core.telegram.org/bots/api#update); null when it is none for the agent. `now` is in
 * milliseconds since the epoch.
 */
export async function readUpdate(update: unknown, reader: Reader, now: number): Promise<Incoming | null> {
  const { message: sent, edited_message: edited } = objectOf(update);
  const isEdit = !isObject(sent);
  const message = objectOf(isEdit ? edited : sent);
  const { chat, from } = { chat: objectOf(message.chat), from: objectOf(message.from) };
  const [chatId, messageId, sender] = [chat.id, message.message_id, from.id].map(integerOf);
  if (chatId == null || messageId == null || sender == null || from.is_bot === true) return null;
  if (!isAllowed(reader.allowedUserIds, String(sender))) return null;
  if (isEdit && (integerOf(message.date) ?? 0) * 1_000 < now - editableMs) return null;

  const said = chat.type === "private" ? saidTo(message) : await saidInGroup(message, chat.type, reader);
  const files = filesOf(message);
  // Moving a live location is an edit too, and no new thought.
  const text = said === null ? null : said || (isEdit ? "" : described(message));
  if (text === null || (text === "" && files.length === 0)) return null;
  const topic = message.is_topic_message === true ? integerOf(message.message_thread_id) : null;
  // Telegram counts the messages of private chats and small groups for each bot: those of another one begin anew.
  const providerId = [reader.botId, chatId, messageId].filter((part) => part !== null).join(":");
  return {
    providerId: isEdit ? `${providerId}:${integerOf(message.edit_date) ?? 0}` : providerId,
    channelId: topic === null ? String(chatId) : `${chatId}:${topic}`,
    sender: String(sender),
    isPrivate: chat.type === "private",
    senderName: nameOf(from.first_name, from.last_name) ?? nameOf(from.username),
    text,
    files,
    edits: isEdit ? providerId : null,
  };
}

/** Whether the agent answers a person; an empty list names everyone. */
export const isAllowed = (allowedUserIds: readonly string[], userId: string): boolean =>
  allowedUserIds.length === 0 || allowedUserIds.includes(userId);

const saidTo = (message: JsonObject): string => storable(textOf(message.text) || textOf(message.caption)).trim();

/** What a group's message says to the bot, without its mention; null when it is not said to the bot. */
async function saidInGroup(message: JsonObject, type: unknown, { botId, botName }: Reader): Promise<string | null> {
  if (type !== "group" && type !== "supergroup") return null;
  const raw = textOf(message.text) || textOf(message.caption);
  const entities = listOf(message.text === undefined ? message.caption_entities : message.entities)
    .slice(0, mostEntities)
    .map(objectOf);
  let rest = "";
  let at = 0;
  let isMeant = isReplyTo(message.reply_to_message, botId);
  for (const entity of entities) {
    const [offset, length] = [integerOf(entity.offset) ?? -1, integerOf(entity.length) ?? 0];
    if (offset < at || length <= 0) continue;
    const span = raw.slice(offset, offset + length);
    const kept = await keptOf(entity, span, botId, botName);
    if (kept === null) continue;
    isMeant = true;
    rest += raw.slice(at, offset) + kept;
    at = offset + length;
  }
  if (!isMeant) return null;
  const text = (rest + raw.slice(at)).replaceAll(/ {2,}/g, " ").trim();
  return storable(text || raw.trim());
}

/** More than Telegram finds in one message. */
const mostEntities = 100;

/** What is left of a span of text that names the bot; null when it does not. */
async function keptOf(
  entity: JsonObject,
  span: string,
  botId: number | null,
  botName: Reader["botName"],
): Promise<string | null> {
  if (entity.type === "text_mention") {
    return botId !== null && objectOf(entity.user).id === botId ? "" : null;
  }
  if ((entity.type !== "mention" && entity.type !== "bot_command") || !span.includes("@")) return null;
  const [before = "", name = ""] = span.split("@");
  return name.toLowerCase() === (await botName()).toLowerCase() ? before : null;
}

/** A topic's messages all reply to the notice of its making. */
function isReplyTo(value: unknown, botId: number | null): boolean {
  const reply = objectOf(value);
  return botId !== null && objectOf(reply.from).id === botId && reply.forum_topic_created === undefined;
}

/** In words what Telegram shows as a thing of its own. */
function described({ sticker, venue, location, contact }: JsonObject): string {
  if (isObject(sticker)) return storable(textOf(sticker.emoji));
  if (isObject(contact)) {
    const name = nameOf(contact.first_name, contact.last_name);
    return `Contact: ${[name, nameOf(contact.phone_number)].filter((part) => part !== null).join(", ")}`;
  }
  const place = objectOf(venue);
  const { latitude, longitude } = objectOf(place.location ?? location);
  if (typeof latitude !== "number" || typeof longitude !== "number") return "";
  const name = [nameOf(place.title), nameOf(place.address)].filter((part) => part !== null);
  return `Location: ${[...name, `${latitude}, ${longitude}`].join(", ")}`;
}

/** The most bytes that a bot can download. */
export const mostBytes = 20 * 1024 * 1024;

const media = [
  // An animation comes as a document too.
  { key: "document", name: "document", mime: "application/octet-stream" },
  { key: "voice", name: "voice.ogg", mime: "audio/ogg" },
  { key: "audio", name: "audio.mp3", mime: "audio/mpeg" },
  { key: "video", name: "video.mp4", mime: "video/mp4" },
  { key: "video_note", name: "video.mp4", mime: "video/mp4" },
];

function filesOf(message: JsonObject): IncomingFile[] {
  const found = media.map(({ key, name, mime }) => fileOf(objectOf(message[key]), name, mime));
  return [photoOf(message.photo), ...found].filter((file) => file !== null);
}

/** The largest of a photo's sizes that can be downloaded. */
function photoOf(value: unknown): IncomingFile | null {
  const area = ({ width, height }: JsonObject) => (integerOf(width) ?? 0) * (integerOf(height) ?? 0);
  const sizes = listOf(value)
    .map(objectOf)
    .filter(({ file_size }) => (integerOf(file_size) ?? 0) <= mostBytes)
    .sort((a, b) => area(b) - area(a));
  return fileOf(sizes[0] ?? {}, "photo.jpg", "image/jpeg");
}

function fileOf(file: JsonObject, name: string, mime: string): IncomingFile | null {
  const ref = textOf(file.file_id);
  if (ref === "" || storable(ref) !== ref) return null;
  return {
    ref,
    lastingId: storable(textOf(file.file_unique_id)) || undefined,
    name: fileNameOf(file.file_name, name),
    mime: mimeOf(file.mime_type, mime),
    size: sizeOf(file.file_size),
  };
}
