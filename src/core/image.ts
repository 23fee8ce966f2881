import { fromBase64, toHex } from "./ids.ts";

export type ImageType = "image/png" | "image/jpeg" | "image/webp";

const ascii = (bytes: Uint8Array, start: number, end: number) => String.fromCharCode(...bytes.subarray(start, end));

/** What the bytes are, by their content and never by what they are called. SVG, which can carry scripts, is none of these. */
export function imageType(bytes: Uint8Array): ImageType | null {
  if (ascii(bytes, 0, 8) === "\x89PNG\r\n\x1a\n" && ascii(bytes, 12, 16) === "IHDR") return "image/png";
  if (ascii(bytes, 0, 3) === "\xff\xd8\xff") return "image/jpeg";
  if (ascii(bytes, 0, 4) === "RIFF" && ascii(bytes, 8, 12) === "WEBP") return "image/webp";
  return null;
}

/** The same, with GIF: what a browser may show as it is. */
export function rasterType(bytes: Uint8Array): ImageType | "image/gif" | null {
  return /^GIF8[79]a$/.test(ascii(bytes, 0, 6)) ? "image/gif" : imageType(bytes);
}

/** The bytes of a `data:…;base64,…` address, or null when it is none. The media type it claims is not believed. */
export function dataUrlBytes(address: string): Uint8Array<ArrayBuffer> | null {
  const comma = address.indexOf(",");
  if (!/^data:[^,]{0,128};base64$/i.test(address.slice(0, Math.max(comma, 0)))) return null;
  return fromBase64(address.slice(comma + 1));
}

/** A short name of the content, which changes with it. */
export async function contentVersion(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))).slice(0, 16);
}
