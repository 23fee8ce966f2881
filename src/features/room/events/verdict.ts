import { normalized } from "../../../core/text/text.ts";

/** The words that decide (decisions §9). */
const words = new Map<string, boolean>([
  ...["yes", "y", "yeah", "yep", "true", "sì", "si", "certo", "vero", "esatto"].map((word) => [word, true] as const),
  ...["no", "n", "nope", "false", "falso"].map((word) => [word, false] as const),
]);

/** Whether a model's answer says that an event matches; null when it says neither yes nor no. */
export function readVerdict(answer: string): boolean | null {
  const said = answer.replace(thoughts, "");
  const plain = normalized(said.replaceAll(markup, " ").replaceAll(invisible, ""), "NFC").toLowerCase();
  const first = firstWord.exec(plain)?.[0] ?? "";
  return words.get(first.replace(decoration, "")) ?? null;
}

/**
 * A model's thinking at the start of its answer. The engine removes thinking only from chat completions, and no block
 * that the prompt opened. The first or the last mark may be missing.
 */
const thoughts = /^.*<\/think(?:ing)?>|^\s*<think(?:ing)?>.*$/is;

/** Tags, and the line that opens a fence and may name a language. */
const markup = /<\/?[a-z][^<>]*>|^\s*(?:```|~~~)[a-z]*[^\S\n]*\n/gi;

/** Joiners, direction marks, variation selectors and the like: nobody who reads the answer sees them. */
const invisible = /\p{Default_Ignorable_Code_Point}/gu;

/** Reaches to a blank or a mark of a pause. `yes/no` and `y'all` are words of their own, and decide nothing. */
const firstWord = /[\p{L}\p{N}][^\s,;:!?…–—]*/u;

/** All characters after the last letter or digit. */
const decoration = /(?<=[\p{L}\p{M}\p{N}])[^\p{L}\p{M}\p{N}]+$/u;
