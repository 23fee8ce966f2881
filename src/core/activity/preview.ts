import type { JsonValue } from "../json.ts";
import type { Scrub } from "../scrub/scrub.ts";
import { clip } from "../text/text.ts";

/** The most UTF-16 units of a text, of arguments and of a result in activity (decisions §10). */
export const longestPreview = 500;

/** The beginning of a text without secrets. */
export function previewOfText(text: string): string {
  return text.length <= longestPreview ? text : `${clip(text, longestPreview - 1)}…`;
}

/** The beginning of a value without secrets, as JSON; a text is shown without quotes. Stops writing at the limit. */
export function previewOf(value: JsonValue): string {
  if (typeof value === "string") return previewOfText(value);
  const writer = { text: "" };
  write(writer, value);
  return previewOfText(writer.text);
}

function write(to: { text: string }, value: JsonValue): void {
  if (to.text.length > longestPreview) return;
  if (Array.isArray(value)) {
    to.text += "[";
    for (const [index, item] of value.entries()) {
      if (to.text.length > longestPreview) return;
      if (index > 0) to.text += ",";
      write(to, item);
    }
    to.text += "]";
  } else if (value !== null && typeof value === "object") {
    let before = "{";
    for (const key in value) {
      if (to.text.length > longestPreview) return;
      to.text += `${before}${JSON.stringify(clip(key, longestPreview))}:`;
      before = ",";
      write(to, value[key] ?? null);
    }
    to.text += before === "{" ? "{}" : "}";
  } else {
    to.text += JSON.stringify(typeof value === "string" ? clip(value, longestPreview) : value);
  }
}

/** How much of a longer text is read, so that a secret which begins within the preview is found as a whole. */
const longestRead = 4 * longestPreview;

/** The beginning of a text that may contain secrets. Leaves out the last characters if they may begin a longer secret. */
export function scrubbedPreview(text: string, scrub: Scrub): string {
  if (text.length <= longestRead) return previewOfText(scrub(text));
  return previewOfText(`${scrub.stream().push(text.slice(0, longestRead))}…`);
}
