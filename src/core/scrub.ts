/** What stands where a secret stood. */
export const scrubbed = "[secret]";

/** Shorter values would turn ordinary words into marks, and protect nothing that deserves the name of a secret. */
const shortest = 6;

export type Scrub = (text: string) => string;

/** A function that blots out the given values, and their URL-encoded forms, wherever they occur in a text. */
export function scrubber(values: Iterable<string>): Scrub {
  const needles = new Set<string>();
  for (const value of values) {
    if (value.length < shortest) continue;
    needles.add(value);
    needles.add(encodeURIComponent(value.toWellFormed()));
    needles.add(JSON.stringify(value).slice(1, -1));
  }
  // The longest first: a secret that contains another one must not survive in part.
  const ordered = [...needles].sort((a, b) => b.length - a.length);
  if (ordered.length === 0) return (text) => text;
  return (text) => ordered.reduce((result, needle) => result.replaceAll(needle, scrubbed), text);
}
