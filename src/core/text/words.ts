import { normalized } from "./text.ts";

// Splits texts of strangers into words for a search, within limits and in linear time. PostgreSQL's own parser takes
// minutes for 200 KB of `_a_a_a`.

/** Scripts that have no spaces between words. */
const unbroken =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}ー\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";

/** Matches a run of a script without spaces, or a word with `+` and `#` at its end, since C++ is not C. */
const pieces = new RegExp(`[${unbroken}]+|(?:(?![${unbroken}])[\\p{L}\\p{M}\\p{N}])+[+#]*`, "gu");
const unbrokenStart = new RegExp(`^[${unbroken}]`, "u");

/** Whether a word begins with a script without spaces. */
export const isUnbroken = (word: string): boolean => unbrokenStart.test(word);

/** `pieces`, for folded ASCII text, many times as fast. */
const asciiPieces = /[a-z0-9]+[+#]*/g;

/**
 * The longest word, in characters. Longer ones are cut: nobody searches for their end, and an index entry has at most 2
 * KB.
 */
export const longestWord = 64;

/** How many characters of a folded text and how many words are used; further ones are ignored. */
const [mostCharacters, mostWords] = [200_000, 40_000];

/** A text is folded in parts of at least this many characters, which end after a word. */
const partLength = 1_000;

const restOfWord = /[\p{L}\p{M}\p{N}+#]{0,7000}/uy;

const isAscii = /^[\0-\x7f]*$/;

/** Removes case, width, and the accents of Latin, Greek and Cyrillic letters, in the same way for every database. */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  if (isAscii.test(lower)) return lower;
  return normalized(lower, "NFKD")
    .replaceAll(/[\u0300-\u036f]/g, "")
    .normalize("NFKC");
}

function* partsOf(text: string): Generator<string> {
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = start + partLength;
    if (isLowSurrogate(text.charCodeAt(end))) end += 1;
    restOfWord.lastIndex = end;
    end += restOfWord.exec(text)?.[0].length ?? 0;
    yield text.slice(start, end);
  }
}

const isLowSurrogate = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff;

interface Piece {
  text: string;
  unbroken: boolean;
}

/** The words of a text, shortened, and its runs without spaces. */
export function* piecesOf(text: string): Generator<Piece> {
  let room = mostCharacters;
  for (const part of partsOf(text)) {
    const folded = fold(part).slice(0, room);
    room -= folded.length;
    const ascii = isAscii.test(folded);
    for (const piece of folded.match(ascii ? asciiPieces : pieces) ?? []) {
      yield { text: piece, unbroken: !ascii && isUnbroken(piece) };
    }
    if (room === 0) return;
  }
}

/** Splits a run without spaces into overlapping pairs of characters, which count as words. */
function pairsOf(run: string): string[] {
  const characters = [...run];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index] ?? ""}${character}`);
}

const wordsOfPiece = ({ text, unbroken }: Piece): string[] =>
  unbroken ? pairsOf(text) : [text.length > longestWord ? text.slice(0, longestWord).toWellFormed() : text];

/** The words of a text in order, folded. */
export function wordsOf(text: string): string[] {
  return [...wordsIn(text)];
}

/** `wordsOf`, one word at a time. */
export function* wordsIn(text: string): Generator<string> {
  let room = mostWords;
  for (const piece of piecesOf(text)) {
    for (const word of wordsOfPiece(piece)) {
      yield word;
      room -= 1;
      if (room === 0) return;
    }
  }
}

/** The index terms of a text: its words. Scripts without spaces give pairs of characters, and the last one alone. */
export function indexTerms(text: string): string[] {
  const terms = new Set<string>();
  for (const piece of piecesOf(text)) {
    for (const word of wordsOfPiece(piece)) terms.add(word);
    if (piece.unbroken) terms.add([...piece.text].at(-1) ?? "");
    if (terms.size >= mostWords) break;
  }
  return [...terms];
}
