import { normalized } from "../../../core/text/text.ts";

/** The handling of a message before any model is called. */
export type Heeded = "answer" | "drop" | "stop" | "resume";

export interface Keywords {
  /** Whether people can stop the agent. A person who stopped it earlier can resume it in any case. */
  enabled: boolean;
  stop: readonly string[];
  resume: readonly string[];
}

/** Whether a message stops or resumes the agent for its sender, and whether it is heard at all. */
export function heed(text: string, isStopped: boolean, { enabled, stop, resume }: Keywords): Heeded {
  if (isStopped) return isOneOf(text, resume) ? "resume" : "drop";
  return enabled && isOneOf(text, stop) ? "stop" : "answer";
}

/** A keyword is the whole text, compared as `folded` (decisions §8). */
const isOneOf = (text: string, keywords: readonly string[]) => {
  const said = folded(text);
  return said !== "" && keywords.some((keyword) => folded(keyword) === said);
};

/** Blanks, and what nobody sees: controls, direction marks, variation selectors, Braille's blank. */
const unseen = /[\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Punctuation with its quotes, the two quotes that Unicode takes for symbols, and the skin tones of emoji. */
const punctuation = /[\p{P}`´\p{Emoji_Modifier}]/gu;

/** Above the 64 characters of a keyword, each of which may be typed as the up to 18 that NFKC makes of it. */
const longestKeyword = 2_000;

/**
 * A text without blanks, punctuation and what nobody sees, after NFKC and full case folding. The Turkish dotted and
 * dotless i are one letter, as are a Greek letter with its accent and without. Punctuation stays where nothing else is.
 * Empty for a text that is too long for a keyword.
 */
function folded(text: string): string {
  const bare = text.replaceAll(unseen, "");
  const letters = bare.replaceAll(punctuation, "") || bare;
  if (letters.length > longestKeyword) return "";
  // Decomposed, so that an accent and a dot can be told from their letter. Upper case makes ß the same as SS.
  const cased = normalized(letters, "NFKD").toLowerCase().toUpperCase().toLowerCase();
  const plain = cased.replaceAll("i\u0307", "i").replaceAll("ς", "σ").replaceAll(greek, withoutAccents);
  return normalized(plain, "NFKC").replaceAll(unseen, "");
}

/** A Greek letter with its marks, which capitals lose but for the diaeresis. */
const greek = /\p{Script=Greek}\p{M}+/gu;

const withoutAccents = (letter: string) => letter.replaceAll(/(?!\u0308)\p{M}/gu, "");
