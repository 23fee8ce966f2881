/** As many as the longest value of an agent has, if it is a key: its lines have 64 characters. */
const mostLines = 128;

/** What stands between the lines of a secret; in a key it may be written out, as `\n`, which elsewhere are two letters. */
const breaksOf = (value: string) => (value.includes("-----BEGIN ") ? /\r?\n|\r|(?:\\r)?\\n|\\r/g : /\r?\n|\r/g);

/** What a secret is known by as a whole: without the blanks around it, and also with its line breaks as Unix has them. */
export function secretTexts(value: string): Set<string> {
  const whole = value.trim();
  return new Set([whole, whole.replaceAll(breaksOf(whole), "\n").trim()]);
}

/** The lines of a value that tell something of it, the longest of too many. */
export function secretLines(value: string): string[] {
  const lines = value.split(breaksOf(value)).map((line) => line.trim());
  const telling = lines.filter((line) => line !== "" && !boundary.test(line));
  return telling.length <= mostLines ? telling : telling.sort((a, b) => b.length - a.length).slice(0, mostLines);
}

/** What the first and the last line of every key look like. */
const boundary = /^-+ ?(?:BEGIN|END) [\w ]+-+$/;
