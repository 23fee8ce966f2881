/** Twilio sends some 30 parameters. `URLSearchParams` may take quadratic time for many, and strangers send them. */
const mostParameters = 1_000;

/**
 * The parameters of a form (https://url.spec.whatwg.org/#urlencoded-parsing), in the encoding that its `Content-Type`
 * names, else UTF-8; null for too many.
 */
export function readParameters(body: Uint8Array<ArrayBuffer>, contentType: string | null): URLSearchParams | null {
  if (hasTooMany(body)) return null;
  const charset = /;\s*charset="?([\w.:-]{1,40})/i.exec(contentType ?? "")?.[1] ?? "utf-8";
  const decoder = decoderOf(charset);
  const text = decoder.decode(body);
  if (decoder.encoding === "utf-8") return new URLSearchParams(text);
  const decoded = (part: string) => decoder.decode(bytesOf(part));
  const pairs = text.split("&").flatMap((pair): [string, string][] => {
    const at = pair.indexOf("=");
    if (pair === "") return [];
    return [at < 0 ? [decoded(pair), ""] : [decoded(pair.slice(0, at)), decoded(pair.slice(at + 1))]];
  });
  return new URLSearchParams(pairs);
}

function hasTooMany(body: Uint8Array): boolean {
  const ampersand = 0x26;
  for (let [count, at] = [1, -1]; count <= mostParameters; count += 1) {
    at = body.indexOf(ampersand, at + 1);
    if (at < 0) return false;
  }
  return true;
}

/** Encodings other than those of the Encoding Standard are read as UTF-8. */
function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}

/** The bytes that a percent-encoded text stands for; characters that no encoder leaves as they are become `?`. */
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
