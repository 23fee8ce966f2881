import { clip } from "../../core/text/text.ts";

/** Words of a search that count; further ones are ignored. */
const mostWords = 16;

/** In characters; a longer word is searched by its beginning, because an index entry has at most 2 KB. */
const longestWord = 64;

/** A search as the database takes it. */
export interface Search {
  /** The whole text in each case, to be found in titles. */
  phrase: string[];
  /** The text of a `to_tsquery`; null when the search has no word. */
  query: string | null;
  /** The words in each case, to find the place of a match in a text. */
  words: string[];
}

/** Null when the text is blank. */
export function readSearch(text: string): Search | null {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  const words = [...new Set(trimmed.split(/\s+/))].filter((word) => /[\p{L}\p{N}]/u.test(word)).slice(0, mostWords);
  const terms = words.map((word, index) => termOf(word, index === words.length - 1));
  return {
    phrase: formsOf(trimmed),
    query: terms.length === 0 ? null : terms.join(" & "),
    words: [...new Set(words.map(bare).filter(Boolean).flatMap(formsOf))],
  };
}

function termOf(word: string, last: boolean): string {
  const beginning = last || word.length > longestWord ? ":*" : "";
  const forms = formsOf(clip(word, longestWord).replaceAll("\uFFFD", ""));
  return `(${forms.map((form) => `${quote(form)}${beginning}`).join(" | ")})`;
}

/** A word in each case: the embedded database folds the case of ASCII letters alone. */
function formsOf(text: string): string[] {
  const lower = text.toLowerCase();
  const [first = "", ...rest] = lower;
  return [...new Set([lower, `${first.toUpperCase()}${rest.join("")}`, text.toUpperCase(), text])];
}

const quote = (word: string) => `'${word.replaceAll(/['\\]/g, "$&$&")}'`;

/** A word without the punctuation around it. */
const bare = (word: string) => clip(word, longestWord).replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "");

/** In characters. */
export const longestSnippet = 200;

/** A piece of a text around a match; `begun`: the text has more before it. */
export interface Excerpt {
  text: string;
  begun: boolean;
}

/** An excerpt as one line of plain text, with whole words and `…` where text is left out. */
export function snippetOf({ text, begun }: Excerpt): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  const start = begun ? `… ${line.replace(/^\S{0,30} /, "")}` : line;
  if (start.length <= longestSnippet) return start;
  const cut = clip(start, longestSnippet - 2).replace(/ \S{0,30}$/, "");
  return `${cut} …`;
}

/** Messages before the first summary of a conversation, and more messages before each further one. */
const [firstSummary, nextSummary] = [6, 10];

/** Whether a conversation lacks a title or an up-to-date summary. Only a model can write a summary. */
export function wantedOf({
  titled,
  messages,
  summarized,
  ask,
}: {
  titled: boolean;
  messages: number;
  summarized: number;
  ask: boolean;
}): { title: boolean; summary: boolean } {
  const due = summarized === 0 ? messages >= firstSummary : messages - summarized >= nextSummary;
  return { title: !titled && messages > 0, summary: ask && due };
}
