import { isObject, type JsonObject } from "../../../core/json.ts";
import { clip, storable } from "../../../core/text/text.ts";
import { integerOf, listOf, nameOf, objectOf, textOf } from "../fields.ts";

/** A text with the spans that Telegram marks (https://core.telegram.org/bots/api#messageentity). */
export interface MarkedText {
  raw: string;
  spans: { entity: JsonObject; offset: number; text: string }[];
}

/** The most spans; Telegram marks fewer. */
const mostEntities = 100;

/** The text of a message, or its picture's caption. */
export function writtenIn({ text, entities, caption, caption_entities }: JsonObject): MarkedText {
  const raw = textOf(text) || textOf(caption);
  const marked = listOf(text === undefined ? caption_entities : entities).slice(0, mostEntities);
  const spans = marked.map(objectOf).flatMap((entity) => {
    const [offset, length] = [integerOf(entity.offset) ?? -1, integerOf(entity.length) ?? 0];
    return offset < 0 || length <= 0 ? [] : [{ entity, offset, text: raw.slice(offset, offset + length) }];
  });
  return { raw, spans };
}

/** Replaces spans of a text; a span stays when `instead` returns null. */
export function withSpans(
  { raw, spans }: MarkedText,
  instead: (span: MarkedText["spans"][number]) => string | null,
): string {
  let [words, at] = ["", 0];
  for (const span of spans) {
    const replacement = span.offset < at ? null : instead(span);
    if (replacement === null) continue;
    words += raw.slice(at, span.offset) + replacement;
    at = span.offset + span.text.length;
  }
  return words + raw.slice(at);
}

/** The text of a message, with the addresses of its links. */
export const wordsIn = (message: JsonObject): string =>
  storable(withSpans(writtenIn(message), ({ entity, text }) => linkOf(entity, text))).trim();

/** The longest shown address. */
const longestAddress = 2_048;

/** A link with its address, if the label does not show the address; null for other spans. */
export function linkOf({ type, url }: JsonObject, label: string): string | null {
  const address = clip(textOf(url).replaceAll(/\s+/g, ""), longestAddress);
  if (type !== "text_link" || address === "" || bare(address) === bare(label)) return null;
  return `${label} (${address})`;
}

const bare = (address: string) =>
  address
    .trim()
    .replace(/^(https?:\/\/|mailto:|tel:)/i, "")
    .replace(/\/$/, "");

/** Describes a sticker, venue, location or contact in words. */
export function described({ sticker, venue, location, contact }: JsonObject): string {
  if (isObject(sticker)) return storable(textOf(sticker.emoji));
  if (isObject(contact)) {
    const name = nameOf(contact.first_name, contact.last_name);
    return `Contact: ${[name, nameOf(contact.phone_number)].filter((part) => part !== null).join(", ")}`;
  }
  const place = objectOf(venue);
  const { latitude, longitude } = objectOf(place.location ?? location);
  if (typeof latitude !== "number" || typeof longitude !== "number") return "";
  const name = [nameOf(place.title), nameOf(place.address)].filter((part) => part !== null);
  return `Location: ${[...name, `${latitude}, ${longitude}`].join(", ")}`;
}
