import type { PictureData } from "./picture.ts";

/** A JPEG, stored unchanged, since readers decode it. Throws for an unreadable header. */
export function readJpeg(bytes: Uint8Array<ArrayBuffer>): PictureData {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let inverted = false;
  for (let at = 2; at + 10 < bytes.length; at += 2 + view.getUint16(at + 2)) {
    if (bytes[at] !== 0xff) break;
    const marker = bytes[at + 1] ?? 0;
    // Adobe's programs store inverted values of the four inks.
    if (marker === 0xee && String.fromCharCode(...bytes.subarray(at + 4, at + 9)) === "Adobe") inverted = true;
    if (isFrame(marker)) return describe(view, at, inverted, bytes);
  }
  throw new Error("This is no JPEG that can be read");
}

/** Whether a marker begins a frame: C0 to CF without three of another meaning. */
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
