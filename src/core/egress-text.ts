/** What is text by its type; the rest is text when it reads as such. */
const textual = /^text\/|^application\/([\w.-]+\+)?(json|xml|yaml|javascript)$|^application\/x-www-form-urlencoded$/;

/**
 * The body of an answer as text, by the charset that it names, else UTF-8. What is no text becomes
 * `[binary, <n> bytes, <type>]`.
 */
export function answerText(bytes: Uint8Array, contentType: string | undefined): string {
  const type = /^\s*([\w.+-]+\/[\w.+-]+)\s*(;|$)/.exec(contentType ?? "")?.[1]?.toLowerCase();
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType ?? "")?.[1];
  if (charset !== undefined || (type !== undefined && textual.test(type))) return decoderOf(charset).decode(bytes);
  const text = readUtf8(bytes);
  return text ?? `[binary, ${bytes.length} bytes, ${type?.slice(0, 128) ?? "unknown type"}]`;
}

function decoderOf(charset = "utf-8"): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}

/** Null when it is no UTF-8, or has NUL, which no text has. */
function readUtf8(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
