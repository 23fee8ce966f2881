import type { Incoming, IncomingFile } from "../../../core/channels/messengers.ts";
import type { JsonObject } from "../../../core/json.ts";
import { storable } from "../../../core/text/text.ts";
import { fileNameOf, listOf, mimeOf, nameOf, objectOf, sizeOf, textOf } from "../fields.ts";
import { slackText } from "./text.ts";

/** What a person wrote; all others tell that something happened, or come from programs. */
const subtypes = new Set(["", "file_share", "thread_broadcast", "me_message"]);

const isId = (value: string) => /^[A-Za-z0-9]{1,32}$/.test(value);
const isMoment = (value: string) => /^\d{1,20}\.\d{1,10}$/.test(value);

/** The bot's user id. Only asked for where an event does not name it; may reject. */
type BotId = () => Promise<string>;

/**
 * The message in an event (https://docs.slack.dev/reference/events/message); null when it is none for the agent. In a
 * channel the agent hears what mentions it, and replies in a thread that it began itself. Whether it took part in
 * another thread can't be told from an event.
 */
export async function readEvent(payload: unknown, askBotId: BotId): Promise<Incoming | null> {
  const { event, authorizations } = objectOf(payload);
  const outer = objectOf(event);
  const isChange = outer.type === "message" && outer.subtype === "message_changed";
  if (outer.type !== "message" && outer.type !== "app_mention") return null;
  const message = isChange ? objectOf(outer.message) : outer;
  if (!subtypes.has(textOf(message.subtype)) || message.bot_id || message.bot_profile) return null;
  const [channel, ts, user] = [textOf(outer.channel), textOf(message.ts), textOf(message.user)];
  if (!isId(channel) || !isMoment(ts) || !isId(user)) return null;
  const edited = textOf(objectOf(message.edited).ts);
  // A preview that Slack adds to a message changes it too.
  if (isChange && (!isMoment(edited) || message.text === objectOf(outer.previous_message).text)) return null;

  const botId = installedBot(authorizations) ?? (await askBotId());
  if (user === botId) return null;
  const isDirect = outer.channel_type === "im" || channel.startsWith("D");
  const raw = textOf(message.text);
  const isMeant = isDirect || mentions(raw, botId) || message.parent_user_id === botId;
  const forwarded = listOf(message.attachments)
    .slice(0, mostForwarded)
    .map(objectOf)
    .filter(({ is_share }) => is_share === true);
  const files = [message, ...forwarded].flatMap((part) => filesOf(part.files));
  const said = [slackText(raw, botId), ...forwarded.map(forwardedText)].filter((part) => part !== "").join("\n\n");
  const text = storable(said || (files.length === 0 ? slackText(raw, null) : ""));
  if (!isMeant || (text === "" && files.length === 0)) return null;
  const thread = isMoment(textOf(message.thread_ts)) ? textOf(message.thread_ts) : null;
  // A mention in a channel is answered in a thread, which keeps its other readers undisturbed.
  const root = thread ?? (isDirect ? null : ts);
  const providerId = `${channel}:${ts}`;
  return {
    providerId: isChange ? `${providerId}:${edited}` : providerId,
    channelId: root === null ? channel : `${channel}:${root}`,
    sender: user,
    isPrivate: isDirect,
    senderName: senderName(message.user_profile),
    text,
    files,
    edits: isChange ? providerId : null,
  };
}

/** More than anybody forwards at a time. */
const mostForwarded = 20;

/** The text of a forwarded message, which Slack puts beside that of the message that forwards it, with who wrote it. */
function forwardedText({ text, author_name }: JsonObject): string {
  const said = slackText(textOf(text), null);
  const author = nameOf(author_name);
  return said === ""
    ? ""
    : `[A forwarded message${author === null ? "" : ` of ${author}`}:]\n${said}\n[The end of it.]`;
}

function senderName(profile: unknown): string | null {
  const { display_name, real_name } = objectOf(profile);
  return nameOf(display_name) ?? nameOf(real_name);
}

/** An event says for which installation it comes; that is the bot's unless a person's token subscribed to it. */
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

/** A file at Slack; null for one that lies elsewhere, is deleted or hidden. */
function fileOf(file: JsonObject): IncomingFile | null {
  const id = textOf(file.id);
  if (!isId(id) || file.is_external === true || file.mode === "tombstone" || file.mode === "hidden_by_limit")
    return null;
  return {
    // Files of a shared channel come without an address.
    ref: storable(textOf(file.url_private_download) || textOf(file.url_private)) || id,
    name: fileNameOf(file.name, nameOf(file.title) ?? "file"),
    mime: mimeOf(file.mimetype),
    size: sizeOf(file.size),
  };
}
