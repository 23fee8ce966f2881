/** Media types of text. A response of another type counts as text when its bytes are UTF-8. */
const textual = /^text\/|^application\/([\w.-]+\+)?(json|xml|yaml|javascript)$|^application\/x-www-form-urlencoded$/;

/**
 * The body of a response as text, in the charset of its content type, or else in UTF-8. A binary body becomes `[binary,
 * <n> bytes, <type>]`.
 */
export function answerText(bytes: Uint8Array, contentType: string | undefined): string {
  const type = /^\s*([\w.+-]+\/[\w.+-]+)\s*(;|$)/.exec(contentType ?? "")?.[1]?.toLowerCase();
  const charset = charsetOf(contentType);
  if (charset !== undefined || (type !== undefined && textual.test(type))) return decoderOf(contentType).decode(bytes);
  const text = readUtf8(bytes);
  return text ?? `[binary, ${bytes.length} bytes, ${type?.slice(0, 128) ?? "unknown type"}]`;
}

const charsetOf = (contentType: string | undefined) => /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType ?? "")?.[1];

/** A decoder for a content type's charset; UTF-8 when there is none, or one that the Encoding Standard does not know. */
function decoderOf(contentType: string | undefined): TextDecoder {
  try {
    return new TextDecoder(charsetOf(contentType));
  } catch {
    return new TextDecoder();
  }
}

/** The text; null when the bytes are not UTF-8, or contain a NUL. */
function readUtf8(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/**
 * Reads the fields of a form (https://url.spec.whatwg.org/#urlencoded-parsing), in the charset of its content type, or
 * else in UTF-8. `URLSearchParams` may take quadratic time for many fields, so callers limit the body.
 */
export function formFields(body: Uint8Array, contentType: string | undefined): URLSearchParams {
  const decoder = decoderOf(contentType);
  const text = decoder.decode(body);
  // A percent sign encodes a byte of the charset, but in UTF-16 a byte of UTF-8.
  if (decoder.encoding.startsWith("utf-")) return new URLSearchParams(text);
  const decoded = (part: string) => decoder.decode(bytesOf(part));
  const pairs = text.split("&").flatMap((pair): [string, string][] => {
    const at = pair.indexOf("=");
    if (pair === "") return [];
    return [at < 0 ? [decoded(pair), ""] : [decoded(pair.slice(0, at)), decoded(pair.slice(at + 1))]];
  });
  return new URLSearchParams(pairs);
}

/** The bytes of a percent-encoded text; characters beyond ASCII become `?`. */
function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const bytes: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const hex = text[at] === "%" ? /^[0-9a-f]{2}$/i.exec(text.slice(at + 1, at + 3))?.[0] : undefined;
    const code = text.charCodeAt(at);
    bytes.push(hex === undefined ? (text[at] === "+" ? 0x20 : code < 0x80 ? code : 0x3f) : Number.parseInt(hex, 16));
    if (hex !== undefined) at += 2;
  }
  return new Uint8Array(bytes);
}
