/** Media types of text. A response of another type counts as text when its bytes are UTF-8. */
const textual = /^text\/|^application\/([\w.-]+\+)?(json|xml|yaml|javascript)$|^application\/x-www-form-urlencoded$/;

/**
 * The body of a response as text, in the charset of its content type, else in UTF-8. A binary body becomes `[binary,
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

/** A decoder for a content type's charset; UTF-8 without one, and for one unknown to the Encoding Standard. */
export function decoderOf(contentType: string | undefined): TextDecoder {
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
