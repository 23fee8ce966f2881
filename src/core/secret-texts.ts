/** As many as the longest value of an agent has, if it is a key: its lines have 64 characters. */
const mostLines = 128;

/** What a secret is known by before it is encoded: itself without the blanks around it, and its lines. */
export function secretTexts(value: string): Set<string> {
  return new Set([value.trim(), ...secretLines(value)]);
}

/** The lines of a value that tell something of it, the longest of too many. In many keys line breaks stand as `\n`. */
export function secretLines(value: string): string[] {
  const lines = value.split(/[\r\n]|\\[rn]/).map((line) => line.trim());
  const telling = lines.filter((line) => line !== "" && !boundary.test(line));
  return telling.length <= mostLines ? telling : telling.sort((a, b) => b.length - a.length).slice(0, mostLines);
}

/** What the first and the last line of every key look like. */
const boundary = /^-+ ?(?:BEGIN|END) [\w ]+-+$/;
