/** Tells of texts whether they have every word of what a person looks for, in any case. */
export function wordsIn(wanted: string): (...texts: readonly string[]) => boolean {
  const words = wanted.toLowerCase().split(/\s+/);
  return (...texts) => {
    const text = texts.join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  };
}
