/** Scripts that put no spaces between words. */
const unbroken =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}ー\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";

/** A run of an unbroken script, or a word with `+` and `#` at its end, since C++ is not C. */
const pieces = new RegExp(`[${unbroken}]+|(?:(?![${unbroken}])[\\p{L}\\p{M}\\p{N}])+[+#]*`, "gu");
const isUnbroken = new RegExp(`^[${unbroken}]`, "u");

/** `pieces` for folded text in ASCII, which are found in a fraction of the time. */
const asciiPieces = /[a-z0-9]+[+#]*/g;

/** In characters. Longer words are cut: nobody searches for their end, and an index entry has at most 2 KB. */
const longestWord = 64;

const isAscii = /^[\0-\x7f]*$/;

/** The text without case, width and the accents of Latin, Greek and Cyrillic letters: the same on every database. */
function fold(text: string): string {
  const lower = text.toLowerCase();
  if (isAscii.test(lower)) return lower;
  return lower
    .normalize("NFKD")
    .replaceAll(/[\u0300-\u036f]/g, "")
    .normalize("NFKC");
}

/** Two contents are the same when this is: folded, with single spaces and without the full stop. */
export function canonical(content: string): string {
  const plain = fold(content).replaceAll(/\s+/g, " ").trim();
  return plain.replace(/[.!。！]{1,3}$/, "").trim() || plain;
}

interface Piece {
  text: string;
  unbroken: boolean;
}

function piecesOf(text: string): Piece[] {
  const folded = fold(text);
  if (isAscii.test(folded)) return (folded.match(asciiPieces) ?? []).map((text) => ({ text, unbroken: false }));
  return (folded.match(pieces) ?? []).map((text) => ({ text, unbroken: isUnbroken.test(text) }));
}

/** In a run without spaces every two characters count as a word. */
function pairsOf(run: string): string[] {
  const characters = [...run];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index] ?? ""}${character}`);
}

/** The words of a text in order, folded. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const { text: piece, unbroken } of piecesOf(text)) {
    if (!unbroken) words.push(piece.length > longestWord ? piece.slice(0, longestWord).toWellFormed() : piece);
    else for (const pair of pairsOf(piece)) words.push(pair);
  }
  return words;
}

/** English function words in all their forms. */
const functionWords = new Set("a an the and is are am was were be been has have had".split(" "));

/** The words without function words, in order; of an unbroken run every character. */
export function contentWords(text: string): string[] {
  return piecesOf(text)
    .flatMap((piece) => (piece.unbroken ? [...piece.text] : [piece.text]))
    .filter((word) => !functionWords.has(word));
}

/**
 * Whether two words are equal but for a regular ending of English. Equal stems would not do: Austria is not Australia,
 * and Paula not Paul.
 */
export function isSameWord(a: string, b: string): boolean {
  if (a === b) return true;
  let end = 0;
  while (end < a.length && a[end] === b[end]) end += 1;
  const endings = a[end - 1] === "e" ? ["", "s", "d"] : ["", "s", "es", "ed", "ing"];
  return end >= 4 && [a, b].every((word) => endings.includes(word.slice(end)));
}

/** The index terms of a text: its words, and of each unbroken run also the last character, which begins no pair. */
export function indexTerms(text: string): string[] {
  const last = piecesOf(text)
    .filter((piece) => piece.unbroken)
    .map((piece) => [...piece.text].at(-1) ?? "");
  return [...new Set([...wordsOf(text), ...last])];
}

/** A tsquery for texts with all these words, or words that begin with them; null for a text without words. */
export function queryForAll(text: string): string | null {
  const words = [...new Set(wordsOf(text))].slice(0, queryWords);
  return words.length === 0 ? null : words.map((word) => `'${word}':*`).join(" & ");
}

/** More words make a query no better. */
const queryWords = 64;

/** A rough stem: the beginning that a word keeps in all its forms, in languages that inflect at the end. */
export function stemOf(word: string): string {
  return word.length < 5 ? word : word.slice(0, Math.max(4, Math.ceil(word.length * 0.6)));
}

/** The words of a query that tell texts apart; most words of one or two letters do not. */
export function distinctiveWords(query: string): string[] {
  const words = wordsOf(query);
  const telling = new Set<string>();
  for (const word of words) {
    if (tells(word)) telling.add(word);
    if (telling.size === queryWords) break;
  }
  return telling.size > 0 ? [...telling] : [...new Set(words)].slice(0, queryWords);
}

const tells = (word: string) => word.length > 2 || /[^\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]/u.test(word);

/** A tsquery for texts with any of these words in any form; null for no words. */
export function queryForAny(words: readonly string[]): string | null {
  if (words.length === 0) return null;
  return words.map((word) => (stemOf(word) === word ? `'${word}'` : `'${stemOf(word)}':*`)).join(" | ");
}
