import { fold, piecesOf, wordsIn, wordsOf } from "../../core/text/words.ts";

/**
 * Normalizes a content so that contents with equal results are equal: folded, with single spaces, without the final
 * full stop.
 */
export function canonical(content: string): string {
  const plain = fold(content).replaceAll(/\s+/g, " ").trim();
  return plain.replace(/[.!。！]{1,3}$/, "").trim() || plain;
}

/** English function words in all their forms. */
const functionWords = new Set("a an the and is are am was were be been has have had".split(" "));

/** The words in order, without function words. A text in a script without spaces gives every character. */
export function contentWords(text: string): string[] {
  return [...piecesOf(text)]
    .flatMap((piece) => (piece.unbroken ? [...piece.text] : [piece.text]))
    .filter((word) => !functionWords.has(word));
}

/**
 * Whether two words differ only by a regular English ending. To compare stems would not be enough: Austria is not
 * Australia, and Paula is not Paul.
 */
export function isSameWord(a: string, b: string): boolean {
  if (a === b) return true;
  let end = 0;
  while (end < a.length && a[end] === b[end]) end += 1;
  const endings = a[end - 1] === "e" ? ["", "s", "d"] : ["", "s", "es", "ed", "ing"];
  return end >= 4 && [a, b].every((word) => endings.includes(word.slice(end)));
}

/** A tsquery for texts that contain all these words, or words that begin with them; null for a text without words. */
export function queryForAll(text: string): string | null {
  const words = [...new Set(wordsOf(text))].slice(0, queryWords);
  return words.length === 0 ? null : words.map((word) => `'${word}':*`).join(" & ");
}

/** The most words of a query, since more do not improve it. */
const queryWords = 64;

/** A rough stem: the beginning of a word in all its forms, for languages that inflect at the end. */
export function stemOf(word: string): string {
  return word.length < 5 ? word : word.slice(0, Math.max(4, Math.ceil(word.length * 0.6)));
}

/** The words of a query that distinguish it; most words of one or two letters do not. */
export function distinctiveWords(query: string): string[] {
  const telling = new Set<string>();
  const all = new Set<string>();
  for (const word of wordsIn(query)) {
    if (tells(word)) telling.add(word);
    if (all.size < queryWords) all.add(word);
    if (telling.size === queryWords) break;
  }
  return telling.size > 0 ? [...telling] : [...all];
}

const tells = (word: string) => word.length > 2 || /[^\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]/u.test(word);

/** A tsquery for texts that contain any of these words in any form; null without words. */
export function queryForAny(words: readonly string[]): string | null {
  if (words.length === 0) return null;
  return words.map((word) => (stemOf(word) === word ? `'${word}'` : `'${stemOf(word)}':*`)).join(" | ");
}
