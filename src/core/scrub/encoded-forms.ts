import { toBase64, toHex } from "../ids.ts";

const utf8 = new TextEncoder();

/** A value in all its forms: unchanged, and encoded for addresses, forms, JSON, HTML, hexadecimal and base64. */
export function encodedForms(value: string): Set<string> {
  const bytes = utf8.encode(value);
  const percent = encodeURIComponent(value.toWellFormed());
  const strict = percent.replaceAll(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
  const json = JSON.stringify(value).slice(1, -1);
  // JSON inside a JSON string, as when a provider quotes a refused request.
  const quoted = JSON.stringify(json).slice(1, -1);
  const hex = toHex(bytes);
  // The percent-encodings of browsers, of Python's `quote` and of forms.
  const written = [percent, strict, strict.replaceAll("%2F", "/"), encodeURI(value.toWellFormed())];
  const forms = [...new Set([...written, strict.replaceAll("%20", "+")])].flatMap((form) => [form, lowerHex(form)]);
  const decimal = html(value);
  const hexadecimal = decimal.replaceAll("&#39;", "&#x27;");
  return new Set([
    value,
    ...forms,
    json,
    quoted,
    JSON.stringify(quoted).slice(1, -1),
    json.replaceAll("/", "\\/"),
    // Gson and Go escape characters of JSON that are special in HTML.
    json.replaceAll(/[<>&='\u2028\u2029]/g, escaped),
    json.replaceAll(/[<>&\u2028\u2029]/g, escaped),
    json.replaceAll(/[^\x20-\x7e]+/g, escaped),
    decimal,
    hexadecimal,
    hexadecimal.replaceAll("=", "&#x3D;").replaceAll("`", "&#x60;"),
    hex,
    hex.toUpperCase(),
    ...base64Forms(bytes),
    ...base64Lines(bytes),
  ]);
}

/**
 * The forms of one line of a value: unchanged, and encoded for addresses, JSON and base64, where lines may appear one
 * by one. These are fewer forms than `encodedForms` makes for a whole value, since a key has a hundred lines.
 */
export function lineForms(line: string): Set<string> {
  const json = JSON.stringify(line).slice(1, -1);
  return new Set([
    line,
    encodeURIComponent(line.toWellFormed()),
    json,
    JSON.stringify(json).slice(1, -1),
    base64Start(utf8.encode(line)),
  ]);
}

// Matches a run of codes at a time, which for a long value is a few calls instead of thousands.
const lowerHex = (percent: string) => percent.replaceAll(/(?:%[0-9A-F]{2})+/g, (codes) => codes.toLowerCase());

function escaped(chars: string): string {
  let text = "";
  for (let index = 0; index < chars.length; index += 1) {
    text += `\\u${chars.charCodeAt(index).toString(16).padStart(4, "0")}`;
  }
  return text;
}

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const html = (value: string) => value.replaceAll(/[&<>"']/g, (char) => entities[char] ?? char);

/** Base64 encodes a value in three ways, by its offset. Characters that depend on neighbouring bytes are cut off. */
function base64Forms(bytes: Uint8Array): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const shifted = new Uint8Array(offset + bytes.length);
    shifted.set(bytes, offset);
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor((shifted.length * 8) / 6);
    const form = toBase64(shifted).slice(first, last);
    return [form, form.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

/** The lines of a value's base64 as tools print it: OpenSSL's have 64 characters, those of `base64` 76. */
function base64Lines(bytes: Uint8Array): string[] {
  const form = base64Start(bytes);
  return [64, 76].flatMap((width) => (form.length > width ? (form.match(new RegExp(`.{1,${width}}`, "g")) ?? []) : []));
}

/** Base64 without a last character that depends on the next byte, such as a line break. */
const base64Start = (bytes: Uint8Array) => toBase64(bytes).slice(0, Math.floor((bytes.length * 8) / 6));
