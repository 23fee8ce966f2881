/** A text in which a search's words are marked where it finds them: in any case, at the beginning of a word. */
export function Marked({ text, search }: { text: string; search: string }) {
  const words = search.split(/\s+/).map((word) => word.replaceAll(outer, "").replaceAll(special, "\\$&"));
  const wanted = words.filter((word) => word !== "").toSorted((one, other) => other.length - one.length);
  if (wanted.length === 0) return <>{text}</>;
  const parts = text.split(new RegExp(`(?<![\\p{L}\\p{N}])(${wanted.join("|")})`, "giu"));
  return <>{parts.map((part, index) => (index % 2 === 1 ? <mark key={index}>{part}</mark> : part))}</>;
}

/** The punctuation around a word, which a search ignores. */
const outer = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;
const special = /[\\^$.*+?()[\]{}|/]/g;
