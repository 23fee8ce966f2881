import { normalized } from "../../../core/text/text.ts";

/** The handling of a message before any model is called. */
export type Heeded = "answer" | "drop" | "stop" | "resume";

export interface Keywords {
  /** Whether people can opt out. A person who opted out earlier can always resume. */
  enabled: boolean;
  stop: readonly string[];
  resume: readonly string[];
}

/** Whether a message opts its sender out or back in, and whether the message is answered. */
export function heed(text: string, isStopped: boolean, { enabled, stop, resume }: Keywords): Heeded {
  if (isStopped) return isOneOf(text, resume) ? "resume" : "drop";
  return enabled && isOneOf(text, stop) ? "stop" : "answer";
}

/** Whether the whole text is a keyword, compared as `folded` (decisions §8). */
const isOneOf = (text: string, keywords: readonly string[]) => {
  const said = folded(text);
  return said !== "" && keywords.some((keyword) => folded(keyword) === said);
};

/** Matches spaces and invisible characters: controls, direction marks, variation selectors, Braille's blank. */
const unseen = /[\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Matches punctuation with quotes, the two quotes that Unicode counts as symbols, and emoji skin tones. */
const punctuation = /[\p{P}`´\p{Emoji_Modifier}]/gu;

/**
 * The longest text that may be a keyword: a keyword has up to 64 characters, and one character under NFKC may replace
 * up to 18.
 */
const longestKeyword = 2_000;

/**
 * A text without spaces, punctuation and invisible characters, after NFKC and full case folding. Turkish i with and
 * without a dot are equal, and so are Greek letters with and without an accent. Punctuation stays when there is nothing
 * else. Empty for a text that is too long for a keyword.
 */
function folded(text: string): string {
  const bare = text.replaceAll(unseen, "");
  const letters = bare.replaceAll(punctuation, "") || bare;
  if (letters.length > longestKeyword) return "";
  // Decomposed, so that accents and dots are separate from their letters. Upper case makes ß equal to SS.
  const cased = normalized(letters, "NFKD").toLowerCase().toUpperCase().toLowerCase();
  const plain = cased.replaceAll("i\u0307", "i").replaceAll("ς", "σ").replaceAll(greek, withoutAccents);
  return normalized(plain, "NFKC").replaceAll(unseen, "");
}

/** Matches a Greek letter with its marks. In capitals all marks but the diaeresis are lost. */
const greek = /\p{Script=Greek}\p{M}+/gu;

const withoutAccents = (letter: string) => letter.replaceAll(/(?!\u0308)\p{M}/gu, "");
