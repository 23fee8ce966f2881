/** Returns a function that tests whether texts contain every wanted word, in any case. */
export function wordsIn(wanted: string): (...texts: readonly string[]) => boolean {
  const words = wanted.toLowerCase().split(/\s+/);
  return (...texts) => {
    const text = texts.join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  };
}
