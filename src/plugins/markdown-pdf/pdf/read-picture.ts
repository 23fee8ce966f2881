import type { Pace } from "../pace.ts";
import type { PictureData } from "./picture.ts";
import { readPng } from "./png.ts";

/** The most pixels, since readers hold a whole decompressed image in memory. */
const mostPixels = 16_000_000;

/** Reads a `data:` address that contains a PNG or a JPEG. Throws the warning for an image that can't be shown. */
export async function readPicture(address: string, pace: Pace): Promise<PictureData> {
  const [, base64] = /^data:image\/(?:png|jpe?g);base64,([A-Za-z0-9+/=\s%]*)$/i.exec(address) ?? [];
  if (base64 === undefined) throw new Error("only PNG and JPEG images can be shown, as base64 in a data: address");
  const bytes = decoded(base64);
  const picture = bytes[0] === 0xff && bytes[1] === 0xd8 ? readJpeg(bytes) : await readPng(bytes, mostPixels, pace);
  if (picture.width * picture.height > mostPixels) throw new Error(`an image may have at most ${mostPixels} pixels`);
  return picture;
}

function decoded(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(decodeURIComponent(base64)), (character) => character.charCodeAt(0));
  } catch {
    throw new Error("the base64 of the image is damaged");
  }
}

/** A JPEG. It is stored unchanged, since readers decode it. Throws for an unreadable header. */
function readJpeg(bytes: Uint8Array<ArrayBuffer>): PictureData {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let inverted = false;
  for (let at = 2; at + 10 < bytes.length; at += 2 + view.getUint16(at + 2)) {
    if (bytes[at] !== 0xff) break;
    const marker = bytes[at + 1] ?? 0;
    // Adobe's programs store the values of the four inks inverted.
    if (marker === 0xee && String.fromCharCode(...bytes.subarray(at + 4, at + 9)) === "Adobe") inverted = true;
    if (isFrame(marker)) return describe(view, at, inverted, bytes);
  }
  throw new Error("This is no JPEG that can be read");
}

/** Whether a marker begins a frame: C0 to CF, except three that mean something else. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

function describe(view: DataView, at: number, inverted: boolean, bytes: Uint8Array<ArrayBuffer>): PictureData {
  const [bits, height, width, colors] = [
    view.getUint8(at + 4),
    view.getUint16(at + 5),
    view.getUint16(at + 7),
    view.getUint8(at + 9),
  ];
  const space = { 1: "DeviceGray", 3: "DeviceRGB", 4: "DeviceCMYK" }[colors];
  if (space === undefined || bits !== 8 || width === 0 || height === 0)
    throw new Error("This kind of JPEG is not supported");
  const decode = colors === 4 && inverted ? { Decode: [1, 0, 1, 0, 1, 0, 1, 0] } : {};
  return {
    width,
    height,
    entries: { ColorSpace: space, BitsPerComponent: bits, Filter: "DCTDecode", ...decode },
    bytes,
    mask: null,
  };
}
