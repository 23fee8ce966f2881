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
 * What a model thinks first, where that is left in the answer: only chat completions are read for it, and not for a block
 * that the prompt opened. Its first mark may be missing, or its last.
 */
const thoughts = /^.*<\/think(?:ing)?>|^\s*<think(?:ing)?>.*$/is;

/** Tags, and the line that opens a fence and may name a language. */
const markup = /<\/?[a-z][^<>]*>|^\s*(?:```|~~~)[a-z]*[^\S\n]*\n/gi;

/** Joiners, direction marks, variation selectors and the like: nobody who reads the answer sees them. */
const invisible = /\p{Default_Ignorable_Code_Point}/gu;

/** Reaches to a blank or a mark of a pause. `yes/no` and `y'all` are words of their own, and decide nothing. */
const firstWord = /[\p{L}\p{N}][^\s,;:!?…–—]*/u;

/** What follows the last letter, where no letter comes again. */
const decoration = /(?<=[\p{L}\p{M}\p{N}])[^\p{L}\p{M}\p{N}]+$/u;
