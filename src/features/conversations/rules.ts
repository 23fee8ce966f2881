import { clip } from "../../core/text/text.ts";
import { isUnbroken, longestWord, wordsOf } from "../../core/text/words.ts";

/** The most words of a search; further ones are ignored. */
const mostWords = 16;

/** A word of a search. */
export interface SearchWord {
  /** The terms that a message of this release has for it; one that ends in `*` is the beginning of a term. */
  terms: string[];
  /** The part of a `to_tsquery` that finds messages of earlier releases. */
  typed: string;
}

/** A search as the database needs it. */
export interface Search {
  /** The whole text in several cases, for titles. */
  phrase: string[];
  words: SearchWord[];
  /** The beginnings of the first words, in several cases, for finding the match in a text. */
  placed: string[];
}

/** Parses a search; null for a blank text. */
export function readSearch(text: string): Search | null {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  const words = [...new Set(trimmed.split(/\s+/))].filter((word) => wordsOf(word).length > 0).slice(0, mostWords);
  return {
    phrase: placedForms(trimmed),
    words: words.map((word, index) => searchWord(word, index === words.length - 1)),
    placed: [...new Set(words.slice(0, mostPlaced).map(bare).filter(Boolean).flatMap(placedForms))],
  };
}

/** The last word may be the beginning of a word; in a script without spaces, a character that of a pair. */
function searchWord(word: string, last: boolean): SearchWord {
  const terms = wordsOf(word);
  const isBeginning = (term: string, index: number) =>
    (last && index === terms.length - 1) || ([...term].length === 1 && isUnbroken(term));
  return {
    terms: terms.map((term, index) => (isBeginning(term, index) ? `${term}*` : term)),
    typed: termOf(word, last),
  };
}

/** A `tsquery` for messages that have all of these words, and the same for messages of earlier releases. */
export function queryOf(words: readonly SearchWord[]): { indexed: string; typed: string } {
  const terms = words
    .flatMap((word) => word.terms)
    .map((term) => `'${term.replace("*", "")}'${term.endsWith("*") ? ":*" : ""}`);
  return { indexed: terms.join(" & "), typed: words.map(({ typed }) => typed).join(" & ") };
}

function termOf(word: string, last: boolean): string {
  const beginning = last || word.length > longestWord ? ":*" : "";
  const forms = formsOf(clip(word, longestWord).replaceAll("\uFFFD", ""));
  return `(${forms.map((form) => `${quote(form)}${beginning}`).join(" | ")})`;
}

/** A word in several cases, since the embedded database folds only ASCII letters. */
function formsOf(text: string): string[] {
  const lower = text.toLowerCase();
  const [first = "", ...rest] = lower;
  return [...new Set([lower, `${first.toUpperCase()}${rest.join("")}`, text.toUpperCase(), text])];
}

/** The forms of a word, since the embedded database can't fold the text. */
const placedForms = (word: string) => (/^[\0-\x7f]*$/.test(word) ? [word.toLowerCase()] : formsOf(word));

const quote = (word: string) => `'${word.replaceAll(/['\\]/g, "$&$&")}'`;

/** The beginning of a word, without the punctuation around it. */
const bare = (word: string) => clip(word, longestPlaced).replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "");

/**
 * The most words that are located in a text, and the most characters of each: locating takes the product of all lengths.
 */
const [mostPlaced, longestPlaced] = [4, 16];

/** The longest snippet, in characters. */
export const longestSnippet = 200;

/** A part of a text around a match; `begun`: the text has more before it. */
export interface Excerpt {
  text: string;
  begun: boolean;
}

/** Formats an excerpt as one line of plain text, with whole words and `…` for omitted text. */
export function snippetOf({ text, begun }: Excerpt): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  const start = begun ? `… ${line.replace(/^\S{0,30} /, "")}` : line;
  if (start.length <= longestSnippet) return start;
  const cut = clip(start, longestSnippet - 2).replace(/ \S{0,30}$/, "");
  return `${cut} …`;
}

/** How many messages a conversation has before its first summary, and between later ones. */
const [firstSummary, nextSummary] = [6, 10];

/** Whether a conversation needs a title or a new summary. Only a model can write a summary. */
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
