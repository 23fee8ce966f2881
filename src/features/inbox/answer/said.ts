import type { Quote } from "../../../core/channels/messengers.ts";
import type { PendingMessage } from "./batch.ts";

/** A message with its own text, and the notes about its files. */
interface MessageText {
  message: PendingMessage;
  words: string;
}

/**
 * The texts of messages for a model: each begins with the message that it quotes, and in a group with its writer's
 * name. An album is one message. `texts` are the messages' own texts, in order.
 */
export function saidTexts(messages: readonly PendingMessage[], texts: readonly string[]): string[] {
  const told = messages.map((message, index): MessageText => ({ message, words: texts[index] ?? "" }));
  const albums = Map.groupBy(told, ({ message: { id, sender, album } }) =>
    album === null ? id : `${sender}:${album}`,
  );
  return [...albums.values()].map(saidText);
}

function saidText(parts: readonly MessageText[]): string {
  const quotes = parts.flatMap(({ message: { quotes, files } }) => {
    const withFiles = files.some(({ isQuoted }) => isQuoted);
    return quotes.map((quote) => quoteText(quote, withFiles));
  });
  const words = parts.map((part) => part.words).filter((text) => text !== "");
  const said = [...new Set(quotes), wordsOf(parts[0]?.message, words.join("\n\n"))];
  return said.filter((text) => text !== "").join("\n\n");
}

function wordsOf(message: PendingMessage | undefined, words: string): string {
  if (!message || message.isPrivate) return ownWords(words);
  return spoken(speakerOf({ id: message.sender, name: message.senderName }), words);
}

// People may write anything, including line breaks and brackets. The engine's notes start a line, so no line of a
// person's text may look like a note.

const lineBreak = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g;

/** A person's name and id for the model. The name can't contain the text that marks its end. */
export function speakerOf({ id, name }: { id: string | null; name: string | null }): string {
  const plain =
    name
      ?.normalize("NFKC")
      .replaceAll(/[()[\]:<>\s]+/g, " ")
      .trim() ?? "";
  if (plain === "") return id ?? "an unknown person";
  return id === null ? plain : `${plain} (${id})`;
}

/** A speaker's text in a group. Lines after the first are indented: they can't look like another speaker's text. */
export const spoken = (speaker: string, words: string): string =>
  `${speaker}: ${words.replaceAll(lineBreak, "\n  ").replaceAll(/^ +$/gm, "")}`.trimEnd();

const beginnings = ["[Reply to", "[Forwarded message", "[The quoted part"];
const looksQuoted = new RegExp(
  `(^|${lineBreak.source})(?=${beginnings.map((words) => words.replace("[", "\\[")).join("|")})`,
  "g",
);

/** A person's own text, changed so that no line looks like a quote. */
export const ownWords = (words: string): string => words.replaceAll(looksQuoted, "$1 ");

/** A quoted message, marked as a quote. `withFiles`: it has pictures or other files. */
export function quoteText({ kind, author, text, passage }: Quote, withFiles: boolean): string {
  const about = kind === "reply" ? `[Reply to ${messageOf(author)}` : `[Forwarded message${writtenBy(author)}`;
  const files = withFiles ? ", with the quoted files" : "";
  if (passage === null) {
    if (text !== "") return `${about}${files}:]\n${marked(text)}`;
    return withFiles || kind === "forward" ? `${about}${files}.]` : `${about}, whose text is not known here.]`;
  }
  const whole = text === "" || text === passage ? [`${about}${files}.]`] : [`${about}${files}:]`, marked(text)];
  return [...whole, "[The quoted part of it:]", marked(passage)].join("\n");
}

const marked = (text: string) => `> ${text.replaceAll(lineBreak, "\n> ")}`;

function messageOf(author: Quote["author"]): string {
  if (author === "agent") return "your own message";
  if (author === "sender") return "an earlier message of their own";
  return author === null ? "a message" : `a message of ${speakerOf(author)}`;
}

function writtenBy(author: Quote["author"]): string {
  if (author === "agent") return " of your own";
  if (author === "sender") return " of their own";
  return author === null ? ", written by somebody else" : `, written by ${speakerOf(author)}`;
}
