import type { PendingMessage } from "./batch.ts";
import { ownWords, quoteText, speakerOf, spoken } from "./quoted.ts";

/** A message with its own words, and those about its files. */
interface MessageText {
  message: PendingMessage;
  words: string;
}

/**
 * The text of messages for a model: each with the message that it refers to, then its words; in a group also the name of
 * its writer. An album is one message. `texts` are the words of the messages, in their order.
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
