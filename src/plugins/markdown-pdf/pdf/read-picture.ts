import type { Pace } from "../pace.ts";
import { readJpeg } from "./jpeg.ts";
import type { PictureData } from "./picture.ts";
import { readPng } from "./png.ts";

/** The most pixels, since readers hold a whole decompressed image in memory. */
const mostPixels = 16_000_000;

/** Reads a `data:` address with a PNG or a JPEG. Throws the warning about one that can't be shown. */
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
