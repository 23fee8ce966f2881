import { decodeHTML } from "entities/decode";

/** Elements whose content is not shown. */
const unseen = ["script", "style", "template"];

/** The text of an HTML block, with a line for each of its non-empty lines. */
export function textOfHtml(html: string): string[] {
  const shown = unseen.reduce((rest, tag) => without(rest, `<${tag}`, `</${tag}>`), without(html, "<!--", "-->"));
  const text = decodeHTML(shown.replace(/<\/?[a-z][^<>]*>/gi, ""));
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** Removes the text between two marks, in any case. */
function without(text: string, from: string, to: string): string {
  const lower = text.toLowerCase();
  const kept: string[] = [];
  let at = 0;
  for (let start = lower.indexOf(from); start >= 0; start = lower.indexOf(from, at)) {
    kept.push(text.slice(at, start));
    const end = lower.indexOf(to, start + from.length);
    if (end < 0) return kept.join("");
    at = end + to.length;
  }
  return [...kept, text.slice(at)].join("");
}
