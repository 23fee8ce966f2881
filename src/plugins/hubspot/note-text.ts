/** Converts plain text to HTML, the format of notes. */
export function textToHtml(text: string): string {
  const escaped = text.replace(/[&<>]/g, (char) => entities.get(char) ?? char);
  return escaped.replaceAll(/\r?\n/g, "<br>");
}

/** The text of a note, with its line breaks. */
export function htmlToText(html: string): string {
  return html
    .replaceAll(/<(?:br|\/p|\/div|\/li|\/h[1-6]|\/tr)\b[^<>]*>/gi, "\n")
    .replaceAll(/<[a-z/!][^<>]*>/gi, "")
    .replaceAll(/&(?:lt|gt|quot|nbsp|#39|#x27|amp);/g, (entity) => characters.get(entity) ?? entity)
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

const entities = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
]);

const characters = new Map([
  ["&lt;", "<"],
  ["&gt;", ">"],
  ["&quot;", '"'],
  ["&nbsp;", " "],
  ["&#39;", "'"],
  ["&#x27;", "'"],
  ["&amp;", "&"],
]);
