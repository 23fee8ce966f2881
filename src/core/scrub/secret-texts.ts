/** A key has lines of 64 characters; the longest value that an agent may keep, if it is one, has this many. */
const mostLines = 128;

/** The line breaks of a secret. A key may spell them out as `\n`, which in other values are two plain characters. */
const breaksOf = (value: string) => (value.includes("-----BEGIN ") ? /\r?\n|\r|(?:\\r)?\\n|\\r/g : /\r?\n|\r/g);

/** The whole secret as it is looked for: without surrounding blanks, and also with the line breaks of Unix. */
export function secretTexts(value: string): Set<string> {
  const whole = value.trim();
  return new Set([whole, whole.replaceAll(breaksOf(whole), "\n").trim()]);
}

/** The lines of a value that reveal something of it; of more than `mostLines` the longest. */
export function secretLines(value: string): string[] {
  const lines = value.split(breaksOf(value)).map((line) => line.trim());
  const secret = lines.filter((line) => line !== "" && !boundary.test(line));
  return secret.length <= mostLines ? secret : secret.sort((a, b) => b.length - a.length).slice(0, mostLines);
}

/** The first and the last line of a key, which are the same for every key. */
const boundary = /^-+ ?(?:BEGIN|END) [\w ]+-+$/;
