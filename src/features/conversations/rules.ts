import { clip } from "../../core/text.ts";

/** A total that stands for any greater one, too. */
export const mostCounted = 10_001;

/** The total that follows from the conversations found on a page, or null when it takes counting. */
export function totalOf(found: number, { limit, offset }: { limit: number; offset: number }): number | null {
  const ends = found < limit && (found > 0 || offset === 0);
  return ends ? Math.min(offset + found, mostCounted) : null;
}

/** More words say no more. */
const mostWords = 16;

/** In characters; of a longer word its beginning is looked for. An index takes no more than 2 KB. */
const longestWord = 64;

/** What is looked for. */
export interface Search {
  /** The whole text, for titles, in every case. */
  phrase: string[];
  /** For `to_tsquery`; null: it has no word. */
  query: string | null;
  /** Its words, to find the place in a text. */
  words: string[];
}

/** What a search asks for; null: nothing. */
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

/** An embedded database folds the case of ASCII letters alone: others are looked for in each case. */
function formsOf(text: string): string[] {
  const lower = text.toLowerCase();
  const [first = "", ...rest] = lower;
  return [...new Set([lower, `${first.toUpperCase()}${rest.join("")}`, text.toUpperCase(), text])];
}

const quote = (word: string) => `'${word.replaceAll(/['\\]/g, "$&$&")}'`;

/** Without the signs around it. */
const bare = (word: string) => clip(word, longestWord).replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "");

/** In characters. */
export const longestSnippet = 200;

/** What stands around a match: a piece of a text, and whether the text has more before it. */
export interface Excerpt {
  text: string;
  begun: boolean;
}

/** One line of plain text, with whole words and `…` where something is left out. */
export function snippetOf({ text, begun }: Excerpt): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  const start = begun ? `… ${line.replace(/^\S{0,30} /, "")}` : line;
  if (start.length <= longestSnippet) return start;
  const cut = clip(start, longestSnippet - 2).replace(/ \S{0,30}$/, "");
  return `${cut} …`;
}

/** When a conversation is summed up: so many messages, and then so many more each time. */
const [firstSummary, nextSummary] = [6, 10];

/** What a conversation lacks: a title, a summary, or one of what was said since. Only a model sums up. */
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
