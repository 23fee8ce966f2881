/** The most lines of a secret. A key's lines have 64 characters; the longest allowed key has this many lines. */
const mostLines = 128;

/**
 * Matches the line breaks of a secret. A key may write them as `\n`, which in other values are two plain characters.
 */
const breaksOf = (value: string) => (value.includes("-----BEGIN ") ? /\r?\n|\r|(?:\\r)?\\n|\\r/g : /\r?\n|\r/g);

/** The forms of a whole secret to search for: without surrounding blanks, and also with Unix line breaks. */
export function secretTexts(value: string): Set<string> {
  const whole = value.trim();
  return new Set([whole, whole.replaceAll(breaksOf(whole), "\n").trim()]);
}

/** The lines of a value that reveal something of it; at most the `mostLines` longest. */
export function secretLines(value: string): string[] {
  const lines = value.split(breaksOf(value)).map((line) => line.trim());
  const secret = lines.filter((line) => line !== "" && !boundary.test(line));
  return secret.length <= mostLines ? secret : secret.sort((a, b) => b.length - a.length).slice(0, mostLines);
}

/** Matches the first and the last line of a key, which all keys share. */
const boundary = /^-+ ?(?:BEGIN|END) [\w ]+-+$/;
