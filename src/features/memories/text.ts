/** Scripts that put no spaces between words. */
const unbroken =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}ー\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";

/** A run of an unbroken script, or a word; `+` and `#` count, for C++ is not C. */
const pieces = new RegExp(`([${unbroken}]+)|(?:(?![${unbroken}])[\\p{L}\\p{M}\\p{N}])+[+#]*`, "gu");

/** Longer words are cut: nobody looks for their end, and an index takes no more than 2 KB. */
const longestWord = 64;

/** The text without case, width and the accents of Latin, Greek and Cyrillic letters, the same on every database. */
function fold(text: string): string {
  return text
    .toLowerCase()
    .normalize("NFKD")
    .replaceAll(/[\u0300-\u036f]/g, "")
    .normalize("NFKC");
}

/** The content as two of them are the same: folded, with single spaces and without the full stop. */
export function canonical(content: string): string {
  const plain = fold(content).replaceAll(/\s+/g, " ").trim();
  return plain.replace(/[.!。！]{1,3}$/, "").trim() || plain;
}

interface Piece {
  text: string;
  unbroken: boolean;
}

function piecesOf(text: string): Piece[] {
  return Array.from(fold(text).matchAll(pieces), ([whole, run]) => ({ text: whole, unbroken: run !== undefined }));
}

/** Where no space says where words end, every two characters stand for one. */
function pairsOf(run: string): string[] {
  const characters = [...run];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index] ?? ""}${character}`);
}

/** The words of a text in order, folded. */
export function wordsOf(text: string): string[] {
  return piecesOf(text).flatMap((piece) =>
    piece.unbroken ? pairsOf(piece.text) : [piece.text.slice(0, longestWord).toWellFormed()],
  );
}

/** English words that only hold others together, in all their forms. */
const functionWords = new Set("a an the and is are am was were be been has have had".split(" "));

/** The words that say something, in order; of an unbroken run every character. */
export function contentWords(text: string): string[] {
  return piecesOf(text)
    .flatMap((piece) => (piece.unbroken ? [...piece.text] : [piece.text]))
    .filter((word) => !functionWords.has(word));
}

/**
 * Whether two words are one, or differ by a regular ending of English. What their stems say is too little: Austria is
 * not Australia, and Paula not Paul.
 */
export function isSameWord(a: string, b: string): boolean {
  if (a === b) return true;
  let end = 0;
  while (end < a.length && a[end] === b[end]) end += 1;
  const endings = a[end - 1] === "e" ? ["", "s", "d"] : ["", "s", "es", "ed", "ing"];
  return end >= 4 && [a, b].every((word) => endings.includes(word.slice(end)));
}

/** What a text is found by: its words, and of unbroken runs the last character, so that each begins something. */
export function indexTerms(text: string): string[] {
  const last = piecesOf(text)
    .filter((piece) => piece.unbroken)
    .map((piece) => [...piece.text].at(-1) ?? "");
  return [...new Set([...wordsOf(text), ...last])];
}

/** A query that finds what has, for every word of the text, one that begins with it; null when it has no word. */
export function allOf(text: string): string | null {
  const words = [...new Set(wordsOf(text))].slice(0, queryWords);
  return words.length === 0 ? null : words.map((word) => `'${word}':*`).join(" & ");
}

/** Longer queries say no more. */
const queryWords = 64;

/** What a word begins with in all its forms, roughly, in any language that inflects at the end. */
export function stemOf(word: string): string {
  return word.length < 5 ? word : word.slice(0, Math.max(4, Math.ceil(word.length * 0.6)));
}

/** The words of a query that can tell one text from another: most of one or two letters can't. */
export function tellingWords(query: string): string[] {
  const words = [...new Set(wordsOf(query))];
  const telling = words.filter(
    (word) => word.length > 2 || /[^\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]/u.test(word),
  );
  return (telling.length > 0 ? telling : words).slice(0, queryWords);
}

/** A query that finds what has any of these words in any form; null when there are none. */
export function anyOf(words: readonly string[]): string | null {
  if (words.length === 0) return null;
  return words.map((word) => (stemOf(word) === word ? `'${word}'` : `'${stemOf(word)}':*`)).join(" | ");
}
