import { clip } from "../../core/text/text.ts";
import { isUnbroken, longestWord, wordsOf } from "../../core/text/words.ts";

/** Words of a search that count; further ones are ignored. */
const mostWords = 16;

/** A search as the database takes it. */
export interface Search {
  /** The whole text in each case, to be found in titles. */
  phrase: string[];
  /**
   * For messages of this release the text of a `tsquery`, and for messages of earlier ones that of a `to_tsquery`; null
   * when the search has no word.
   */
  query: { indexed: string; typed: string } | null;
  /** The first words in each case, or their beginnings, to find the place of a match in a text. */
  words: string[];
}

/** Null when the text is blank. */
export function readSearch(text: string): Search | null {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  const words = [...new Set(trimmed.split(/\s+/))].filter((word) => /[\p{L}\p{N}]/u.test(word)).slice(0, mostWords);
  const typed = words.map((word, index) => termOf(word, index === words.length - 1));
  return {
    phrase: formsOf(trimmed),
    query: words.length === 0 ? null : { indexed: indexedTerms(words), typed: typed.join(" & ") },
    words: [...new Set(words.slice(0, mostPlaced).map(bare).filter(Boolean).flatMap(placedForms))],
  };
}

/** The last word may be the beginning of one, and a single character of an unbroken script that of a pair. */
function indexedTerms(words: readonly string[]): string {
  const terms = words.flatMap(wordsOf);
  const isBeginning = (term: string, index: number) =>
    index === terms.length - 1 || ([...term].length === 1 && isUnbroken(term));
  return terms.map((term, index) => `'${term}'${isBeginning(term, index) ? ":*" : ""}`).join(" & ");
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

/** The forms of a word to which the embedded database does not fold a text by itself. */
const placedForms = (word: string) => (/^[\0-\x7f]*$/.test(word) ? [word.toLowerCase()] : formsOf(word));

const quote = (word: string) => `'${word.replaceAll(/['\\]/g, "$&$&")}'`;

/** A word without the punctuation around it, or its beginning. */
const bare = (word: string) => clip(word, longestPlaced).replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "");

/** Words, and characters of each, whose place in a text is looked for: that takes as long as both together. */
const [mostPlaced, longestPlaced] = [4, 16];

/** The limit in characters. */
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
