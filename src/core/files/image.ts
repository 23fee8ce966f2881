import { fromBase64, toBase64, toHex } from "../ids.ts";

export type ImageType = "image/png" | "image/jpeg" | "image/webp";

const ascii = (bytes: Uint8Array, start: number, end: number) => String.fromCharCode(...bytes.subarray(start, end));

/** The type of an image by its bytes, never by its name; null for other files, and for SVG, which may contain scripts. */
export function imageType(bytes: Uint8Array): ImageType | null {
  if (ascii(bytes, 0, 8) === "\x89PNG\r\n\x1a\n" && ascii(bytes, 12, 16) === "IHDR") return "image/png";
  if (ascii(bytes, 0, 3) === "\xff\xd8\xff") return "image/jpeg";
  if (ascii(bytes, 0, 4) === "RIFF" && ascii(bytes, 8, 12) === "WEBP") return "image/webp";
  return null;
}

/** `imageType`, and GIF: the types that a browser may show unchanged. */
export function rasterType(bytes: Uint8Array): ImageType | "image/gif" | null {
  return /^GIF8[79]a$/.test(ascii(bytes, 0, 6)) ? "image/gif" : imageType(bytes);
}

/** The bytes of a `data:…;base64,…` address; null for other addresses. Its media type is ignored. */
export function dataUrlBytes(address: string): Uint8Array<ArrayBuffer> | null {
  const comma = address.indexOf(",");
  if (!/^data:[^,]{0,128};base64$/i.test(address.slice(0, Math.max(comma, 0)))) return null;
  return fromBase64(address.slice(comma + 1));
}

/** The address that `dataUrlBytes` reads. */
export const dataUrl = (mime: string, bytes: Uint8Array) => `data:${mime};base64,${toBase64(bytes)}`;

/** 16 hexadecimal characters of the content's digest. */
export async function contentVersion(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))).slice(0, 16);
}

/** The address of an agent's icon, which changes with the picture. */
export const iconAddress = (slug: string, version: string) => `/api/instances/${slug}/icon?v=${version}`;
