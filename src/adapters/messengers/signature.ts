const utf8 = new TextEncoder();

/** The HMAC of a message with a text as the key. */
export async function hmac(
  hash: "SHA-1" | "SHA-256",
  key: string,
  message: string | Uint8Array<ArrayBuffer>,
): Promise<Uint8Array> {
  const imported = await crypto.subtle.importKey("raw", utf8.encode(key), { name: "HMAC", hash }, false, ["sign"]);
  const bytes = typeof message === "string" ? utf8.encode(message) : message;
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, bytes));
}
