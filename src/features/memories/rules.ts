import type { SubjectKey } from "../../core/channels/subjects.ts";
import { wordsOf } from "../../core/text/words.ts";
import { contentWords, distinctiveWords, isSameWord, stemOf } from "./text.ts";

const nearEnough = 0.8;

/** The share of common words of two texts, 0 to 1. */
export function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 || b.size === 0) return 0;
  let shared = 0;
  for (const word of a) if (b.has(word)) shared += 1;
  return shared / (a.size + b.size - shared);
}

/**
 * The memory that means nearly the same as `content`; null for none. A different number, word, or order of words makes
 * another fact: "Ann is older than Bob" must not replace its opposite, nor one birthday or daughter another.
 */
export function nearDuplicate<Known extends { content: string }>(
  content: string,
  known: readonly Known[],
): Known | null {
  const words = new Set(wordsOf(content));
  const said = contentWords(content);
  let best: { one: Known; near: number } | null = null;
  for (const one of known) {
    const others = new Set(wordsOf(one.content));
    const near = similarity(words, others);
    if (near < nearEnough || near <= (best?.near ?? 0)) continue;
    const told = contentWords(one.content);
    if (sameNumbers(words, others) && denies(said) === denies(told) && (holds(said, told) || holds(told, said)))
      best = { one, near };
  }
  return best?.one ?? null;
}

const numbers = (words: ReadonlySet<string>) => [...words].filter((word) => /\p{N}/u.test(word)).sort();

function sameNumbers(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return numbers(a).join(" ") === numbers(b).join(" ");
}

/** Words that reverse a sentence's meaning. */
const denials = new Set(
  "not never no none without nobody nothing neither nor cannot doesn don didn isn aren wasn weren won can't nicht nie niemals kein keine keinen keiner ohne pas jamais sans nunca jamás sin".split(
    " ",
  ),
);

const denies = (words: readonly string[]) => words.filter((word) => denials.has(word)).length;

/** Whether `more` contains all words of `less` in the same order. */
function holds(more: readonly string[], less: readonly string[]): boolean {
  let found = 0;
  for (const word of more) {
    const next = less[found];
    if (next !== undefined && isSameWord(word, next)) found += 1;
  }
  return found === less.length;
}

/** The fields by which memories are ranked. */
interface RankedMemory {
  content: string;
  importance: number;
  updatedAt: Date;
}

/** The score of a word that begins like a word of the query. An equal word scores 1. */
const prefixScore = 0.6;

/**
 * The memories that contain a word of the query, best first. Rare words count more; importance and age decide between
 * equals.
 */
export function bestMatches<One extends RankedMemory>(query: string, known: readonly One[]): One[] {
  if (known.length === 0) return [];
  const texts = known.map((one) => ({ one, words: new Set(wordsOf(one.content)) }));
  const fits = distinctiveWords(query).map((word) => {
    const scores = texts.map(({ words }) => wordScore(word, words));
    const found = scores.filter((value) => value > 0).length;
    return { scores, weight: found === 0 ? 0 : Math.log(1 + texts.length / found) };
  });
  const scored = texts.map(({ one }, index) => ({
    one,
    score: fits.reduce((sum, { scores, weight }) => sum + weight * (scores[index] ?? 0), 0),
  }));
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || byImportance(a.one, b.one))
    .map(({ one }) => one);
}

function wordScore(word: string, words: ReadonlySet<string>): number {
  if (words.has(word)) return 1;
  const stem = stemOf(word);
  if (stem === word) return 0;
  for (const other of words) if (other.startsWith(stem)) return prefixScore;
  return 0;
}

/** The most important first, then the newest. */
function byImportance(a: RankedMemory, b: RankedMemory): number {
  return b.importance - a.importance || b.updatedAt.getTime() - a.updatedAt.getTime();
}

/** Interleaves both lists: the best of each, then the second best, and so on, each memory once. */
export function interleave<One extends { id: string }>(matching: readonly One[], near: readonly One[]): One[] {
  const both = Array.from({ length: Math.max(matching.length, near.length) }, (_, index) => [
    ...matching.slice(index, index + 1),
    ...near.slice(index, index + 1),
  ]);
  return [...new Map(both.flat().map((one) => [one.id, one])).values()];
}

/** Chooses mostly memories that fit the text, by words or by meaning, and fills up with the most important ones. */
export function chooseRecalled<One extends RankedMemory & { id: string }>(
  text: string,
  known: readonly One[],
  { limit, near = [] }: { limit: number; near?: readonly One[] },
): One[] {
  const fitting = interleave(bestMatches(text, known), near);
  const important = known.toSorted(byImportance);
  const reserved = fitting.slice(0, Math.ceil(limit * 0.7));
  const chosen = [...reserved, ...important.slice(0, limit), ...fitting];
  return chosen.filter(({ id }, index) => chosen.findIndex((other) => other.id === id) === index).slice(0, limit);
}

/** A message to learn from. */
export interface Unread {
  seq: number;
  role: "user" | "assistant";
  content: string;
  /** The end user of the message's turn. */
  subject: SubjectKey;
}

/** The limits of a batch: how many messages, characters and end users. */
export const batchMessages = 40;
const batchCharacters = 64 * 1024;
const batchSubjects = 5;

/** The first messages that fit into a batch, at least one. */
export function nextBatch(unread: readonly Unread[]): Unread[] {
  let characters = 0;
  const subjects = new Set<string>();
  const end = unread.findIndex(({ content, subject }, index) => {
    characters += content.length;
    subjects.add(subject);
    return index >= batchMessages || (index > 0 && (characters > batchCharacters || subjects.size > batchSubjects));
  });
  return end === -1 ? [...unread] : unread.slice(0, end);
}
