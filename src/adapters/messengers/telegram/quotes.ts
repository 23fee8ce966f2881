import type { IncomingFile, Quote } from "../../../core/channels/messengers.ts";
import { isObject, type JsonObject } from "../../../core/json.ts";
import { storable } from "../../../core/text/text.ts";
import { integerOf, nameOf, objectOf, textOf } from "../fields.ts";
import { filesOf } from "./files.ts";
import { described, wordsIn } from "./words.ts";

interface Person {
  id: string;
  name: string | null;
  isBot: boolean;
}

/** The account in whose name Telegram sends messages of anonymous administrators. */
const anonymousBot = 1_087_968_824;

/**
 * The author of a message: a person, or the chat in whose name a person wrote, as an anonymous administrator or a
 * channel's owner does. Null when Telegram sends neither.
 */
export function personOf(message: JsonObject): Person | null {
  const [from, chat] = [objectOf(message.from), objectOf(message.chat)];
  if (isObject(message.sender_chat)) return chatAsPerson(message.sender_chat, message.author_signature);
  if (from.id === anonymousBot) return chatAsPerson(chat, message.author_signature);
  const id = integerOf(from.id);
  if (id === null) return null;
  return {
    id: String(id),
    name: nameOf(from.first_name, from.last_name) ?? nameOf(from.username),
    isBot: from.is_bot === true,
  };
}

function chatAsPerson(chat: JsonObject, signature: unknown): Person | null {
  const id = integerOf(chat.id);
  const names = [nameOf(chat.title) ?? nameOf(chat.username), nameOf(signature)].filter((name) => name !== null);
  return id === null ? null : { id: String(id), name: names.join(", ") || null, isBot: false };
}

interface Message {
  botId: number | null;
  /** The author's id. */
  sender: string;
  /** The message's text. */
  text: string;
}

/** The messages that a message quotes, with their files. */
export function quotesOf(message: JsonObject, own: Message): { quotes: Quote[]; files: IncomingFile[] } {
  const { reply_to_message: reply, external_reply: external, forward_origin: origin } = message;
  const quotes: Quote[] = [];
  const files: IncomingFile[] = [];
  const replied = isObject(reply) ? reply : isObject(external) ? external : null;
  // Every message of a topic formally replies to the notice that created the topic.
  if (replied && replied.forum_topic_created === undefined) {
    const came = filesOf(replied).map((file) => ({ ...file, isQuoted: true }));
    const passage = storable(textOf(objectOf(message.quote).text)).trim() || null;
    const text = wordsIn(replied) || described(replied);
    const author = isObject(reply) ? personOf(reply) : originOf(objectOf(replied.origin));
    if (text !== "" || passage !== null || came.length > 0) {
      quotes.push({ kind: "reply", author: authorOf(author, own), text, passage, messageId: null });
      files.push(...came);
    }
  }
  if (isObject(origin)) {
    const text = own.text || described(message);
    const author = authorOf(originOf(origin), own);
    quotes.push({ kind: "forward", author, text, passage: null, messageId: null });
  }
  return { quotes, files };
}

type Author = Pick<Person, "name"> & { id: string | null };

/** The author of a forwarded message (https://core.telegram.org/bots/api#messageorigin). */
function originOf(origin: JsonObject): Author | null {
  const { sender_user, sender_user_name, sender_chat, chat, author_signature } = origin;
  if (isObject(sender_user)) return personOf({ from: sender_user });
  if (isObject(sender_chat)) return chatAsPerson(sender_chat, author_signature);
  if (isObject(chat)) return chatAsPerson(chat, author_signature);
  const name = nameOf(sender_user_name);
  return name === null ? null : { id: null, name };
}

function authorOf(author: Author | null, { botId, sender }: Message): Quote["author"] {
  if (author === null) return null;
  if (botId !== null && author.id === String(botId)) return "agent";
  return author.id === sender ? "sender" : { id: author.id, name: author.name };
}
