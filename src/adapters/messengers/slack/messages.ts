import type {
  DeletedMessage,
  Incoming,
  IncomingFile,
  Quote,
  QuotedMessage,
} from "../../../core/channels/messengers.ts";
import type { JsonObject } from "../../../core/json.ts";
import { storable } from "../../../core/text/text.ts";
import { fileNameOf, listOf, mimeOf, nameOf, objectOf, sizeOf, textOf } from "../fields.ts";

/** The subtypes of people's messages. Other subtypes report events, or come from programs. */
const subtypes = new Set(["", "file_share", "thread_broadcast", "me_message"]);

const isId = (value: string) => /^[A-Za-z0-9]{1,32}$/.test(value);
const isMoment = (value: string) => /^\d{1,20}\.\d{1,10}$/.test(value);

/** Returns the bot's user id, for events that do not contain it; may reject. */
type BotId = () => Promise<string>;

/**
 * The arrivals of an event (https://docs.slack.dev/reference/events/message); null when none is for the agent. In a
 * channel the agent gets messages that mention it, and replies in threads that it began: an event does not show whether
 * it took part in other threads.
 */
export async function readEvent(payload: unknown, askBotId: BotId): Promise<Incoming | DeletedMessage | null> {
  const { event, authorizations } = objectOf(payload);
  const outer = objectOf(event);
  if (isDeletion(outer)) return deletedIn(outer);
  const isChange = outer.type === "message" && outer.subtype === "message_changed";
  if (outer.type !== "message" && outer.type !== "app_mention") return null;
  const message = isChange ? objectOf(outer.message) : outer;
  if (!subtypes.has(textOf(message.subtype)) || message.bot_id || message.bot_profile) return null;
  const [channel, ts, user] = [textOf(outer.channel), textOf(message.ts), textOf(message.user)];
  if (!isId(channel) || !isMoment(ts) || !isId(user)) return null;
  const edited = textOf(objectOf(message.edited).ts);
  // Slack also reports a change when it adds the preview of a link.
  if (isChange && (!isMoment(edited) || message.text === objectOf(outer.previous_message).text)) return null;

  const botId = installedBot(authorizations) ?? (await askBotId());
  if (user === botId) return null;
  const isDirect = isDirectMessage(outer);
  const raw = textOf(message.text);
  const isMeant = isDirect || mentions(raw, botId) || message.parent_user_id === botId;
  const forwarded = listOf(message.attachments)
    .slice(0, mostForwarded)
    .map(objectOf)
    .filter(({ is_share, is_msg_unfurl }) => is_share === true || is_msg_unfurl === true);
  const thread = threadQuote(message, { botId, user });
  const quotes = [...(thread ? [thread] : []), ...forwarded.map((part) => forwardedBy(part, { botId, user }))];
  const quoted = forwarded.flatMap(({ files }) => filesOf(files)).map((file) => ({ ...file, isQuoted: true }));
  const files = [...filesOf(message.files), ...quoted];
  const isEmpty = files.length === 0 && forwarded.length === 0;
  const text = storable(slackText(raw, botId) || (isEmpty ? slackText(raw, null) : ""));
  if (!isMeant || (text === "" && isEmpty)) return null;
  const providerId = `${channel}:${ts}`;
  return {
    providerId: isChange ? `${providerId}:${edited}` : providerId,
    channelId: placeOf(outer, message),
    sender: user,
    isPrivate: isDirect,
    senderName: senderName(message.user_profile),
    text,
    files,
    edits: isChange ? providerId : null,
    quotes,
    album: null,
  };
}

const isDirectMessage = ({ channel, channel_type }: JsonObject) =>
  channel_type === "im" || textOf(channel).startsWith("D");

/** A mention in a channel is answered in a thread, so that people in the channel are not disturbed. */
function placeOf(outer: JsonObject, message: JsonObject): string {
  const [channel, thread, ts] = [outer.channel, message.thread_ts, message.ts].map(textOf);
  const root = isMoment(thread ?? "") ? thread : isDirectMessage(outer) ? null : ts;
  return root === null ? `${channel}` : `${channel}:${root}`;
}

/**
 * Whether an event deletes a message. When the first message of a thread is deleted, Slack changes it into a tombstone
 * (https://docs.slack.dev/reference/events/message).
 */
function isDeletion({ type, subtype, message }: JsonObject): boolean {
  if (type !== "message") return false;
  return subtype === "message_deleted" || (subtype === "message_changed" && objectOf(message).subtype === "tombstone");
}

function deletedIn(outer: JsonObject): DeletedMessage | null {
  const before = objectOf(outer.previous_message);
  const ts = textOf(outer.deleted_ts) || textOf(objectOf(outer.message).ts);
  if (!isId(textOf(outer.channel)) || !isMoment(ts)) return null;
  return { deletes: `${textOf(outer.channel)}:${ts}`, channelId: placeOf(outer, { ...before, ts }) };
}

/** The first message of a message's thread; null when that is the message itself, or the agent's. */
function threadQuote({ thread_ts, ts, parent_user_id }: JsonObject, of: { botId: string; user: string }): Quote | null {
  const root = textOf(thread_ts);
  const began = textOf(parent_user_id);
  if (!isMoment(root) || root === ts || began === of.botId) return null;
  return { kind: "reply", author: authorOf(began, null, of), text: "", passage: null, messageId: root };
}

/** The first message of a thread, from a response of `conversations.replies`; null when it was deleted. */
export function rootOf(answer: JsonObject, root: string, of: { botId: string; user: string }): QuotedMessage | null {
  const message = objectOf(listOf(answer.messages)[0]);
  if (message.ts !== root || message.subtype === "tombstone") return null;
  const { user, bot_id, user_profile, bot_profile, username } = message;
  const name = senderName(user_profile) ?? nameOf(username) ?? nameOf(objectOf(bot_profile).name);
  const author = authorOf(textOf(user) || textOf(bot_id), name, of);
  return { author, text: storable(rootText(message)), files: filesOf(message.files) };
}

/** The text of a thread's first message. Programs often write only attachments; people's attachments are previews. */
function rootText({ text, bot_id, attachments }: JsonObject): string {
  const shown = bot_id === undefined ? [] : listOf(attachments).slice(0, mostForwarded).map(objectOf);
  const parts = [text, ...shown.map((part) => part.text ?? part.fallback)];
  const read = parts.map((part) => slackText(textOf(part), null));
  return read.filter((part) => part !== "").join("\n\n");
}

function authorOf(found: string, name: string | null, of: { botId: string; user: string }): Quote["author"] {
  if (found === of.botId) return "agent";
  if (found === of.user) return "sender";
  const id = storable(found) || null;
  return id === null && name === null ? null : { id, name };
}

/** The most forwarded messages; people forward far fewer at a time. */
const mostForwarded = 20;

/** A forwarded message. Slack attaches it to the forwarding message, as it does when a message's link is shared. */
function forwardedBy({ text, author_id, author_name }: JsonObject, of: { botId: string; user: string }): Quote {
  const author = authorOf(textOf(author_id), nameOf(author_name), of);
  const said = storable(slackText(textOf(text), null));
  return { kind: "forward", author, text: said, passage: null, messageId: null };
}

function senderName(profile: unknown): string | null {
  const { display_name, real_name } = objectOf(profile);
  return nameOf(display_name) ?? nameOf(real_name);
}

/** The bot's user id in an event's authorization; null when a person's token subscribed to the event. */
function installedBot(authorizations: unknown): string | null {
  const { is_bot, user_id } = objectOf(listOf(authorizations)[0]);
  return is_bot === true && isId(textOf(user_id)) ? textOf(user_id) : null;
}

const mentions = (text: string, botId: string) => text.includes(`<@${botId}>`) || text.includes(`<@${botId}|`);

function filesOf(value: unknown): IncomingFile[] {
  return listOf(value)
    .slice(0, 100)
    .map(objectOf)
    .flatMap((file) => fileOf(file) ?? []);
}

/** A file stored at Slack; null for external, deleted or hidden ones. */
function fileOf(file: JsonObject): IncomingFile | null {
  const id = textOf(file.id);
  if (!isId(id) || file.is_external === true || file.mode === "tombstone" || file.mode === "hidden_by_limit")
    return null;
  return {
    // Files of a shared channel have no address.
    ref: storable(textOf(file.url_private_download) || textOf(file.url_private)) || id,
    name: fileNameOf(file.name, nameOf(file.title) ?? "file"),
    mime: mimeOf(file.mimetype),
    size: sizeOf(file.size),
  };
}

/**
 * A message's text as a person reads it: Slack writes mentions and links in `<…>` and escapes `&`, `<` and `>`
 * (https://docs.slack.dev/messaging/formatting-message-text). Removes mentions of `botId`.
 */
export function slackText(text: string, botId: string | null): string {
  const parts = text.split(/(<[^<>]*>)/);
  const read = parts.map((part, index) => (index % 2 === 1 ? spanText(part.slice(1, -1), botId) : unescaped(part)));
  return read.join("").replaceAll(/ {2,}/g, " ").trim();
}

function spanText(span: string, botId: string | null): string {
  const bar = span.indexOf("|");
  const target = bar < 0 ? span : span.slice(0, bar);
  const label = bar < 0 ? "" : unescaped(span.slice(bar + 1));
  const id = target.slice(1);
  if (target.startsWith("@")) return id === botId ? "" : `@${label || id}`;
  if (target.startsWith("#")) return `#${label || id}`;
  // Groups, dates and words such as `!here`.
  if (target.startsWith("!")) return label || `@${id.split("^")[0]}`;
  const address = unescaped(target);
  const bare = address.replace(/^(https?:\/\/|mailto:|tel:)/i, "");
  if (label === "" || label === address) return address.replace(/^mailto:/i, "");
  return label === bare ? bare : `${label} (${address})`;
}

const unescaped = (text: string) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
