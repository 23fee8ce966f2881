import { createSHA256 } from "hash-wasm";
import { v7 } from "uuid";

/** A UUIDv7 (RFC 9562). These ids sort by creation, even within a millisecond. */
export function newId(): string {
  const random = draw(16);
  const now = Date.now();
  if (now > latest.msecs)
    latest = { msecs: now, seq: new DataView(random.buffer, random.byteOffset).getUint32(0) >>> 1 };
  else latest.seq += 1;
  return v7({ random, ...latest });
}

/**
 * The time of the last id, and its number within that millisecond. The library would count only with its own
 * randomness.
 */
let latest = { msecs: 0, seq: 0 };

/** Randomness for many ids: a call of the system costs more than an id. */
const drawn = new Uint8Array(4096);
let used = drawn.length;

/** The next `bytes` of randomness, valid until the next call. */
function draw(bytes: number): Uint8Array {
  if (used + bytes > drawn.length) {
    crypto.getRandomValues(drawn);
    used = 0;
  }
  used += bytes;
  return drawn.subarray(used - bytes, used);
}

/** A UUID before every UUIDv7 of this millisecond and of later ones, and after those of earlier ones. */
export function firstIdAt(ms: number): string {
  const time = Math.max(0, ms).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}

/** Whether PostgreSQL reads the text as a UUID, in upper or lower case. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** `bytes` of randomness as base64url: 32 bytes give 43 characters and 256 bits. */
export function randomToken(bytes = 32): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(bytes)));
}

/** `length` lower-case hexadecimal characters, as in `chatcmpl-<24 hex chars>`. */
export function randomHex(length: number): string {
  return toHex(draw(length / 2));
}

const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

export function toHex(bytes: Uint8Array): string {
  let hex = "";
  for (const byte of bytes) hex += hexOfByte[byte];
  return hex;
}

function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** Decodes base64; null for another text. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

const utf8 = new TextEncoder();

let sha256: ReturnType<typeof createSHA256> | undefined;

/**
 * The SHA-256 of the UTF-8 text; tokens are stored only as such digests. WebCrypto would pass each digest to a thread,
 * which takes ten times as long for such short texts.
 */
export async function digest(text: string): Promise<Uint8Array<ArrayBuffer>> {
  sha256 ??= createSHA256();
  const hash = (await sha256).init().update(utf8.encode(text)).digest("binary");
  return new Uint8Array(hash);
}

/** Compares a received secret with the stored one. The time reveals only the length of `presented`. */
export function sameText(presented: string, stored: string): boolean {
  const a = utf8.encode(presented);
  const b = utf8.encode(stored);
  let difference = a.length ^ b.length;
  for (let index = 0; index < a.length; index += 1) difference |= (a[index] ?? 0) ^ (b[index % b.length] ?? 0);
  return difference === 0;
}
