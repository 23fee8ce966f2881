import { dict, type ObjectFile, type ObjectId, ref } from "./objects.ts";

/** An image as a PDF holds it. */
export interface Picture {
  /** In pixels. */
  width: number;
  height: number;
  entries: Readonly<Record<string, string | number>>;
  bytes: Uint8Array<ArrayBuffer>;
  /** How opaque each pixel is, compressed, where not all are. */
  mask: { bits: number; bytes: Uint8Array<ArrayBuffer> } | null;
}

export function embedPicture(file: ObjectFile, { width, height, entries, bytes, mask }: Picture): ObjectId {
  const image = { Type: "/XObject", Subtype: "/Image", Width: width, Height: height };
  const id = file.reserve();
  if (!mask) return file.putStream(id, { ...image, ...entries }, bytes);
  const gray = { ColorSpace: "/DeviceGray", BitsPerComponent: mask.bits, Filter: "/FlateDecode" };
  const soft = file.putStream(file.reserve(), { ...image, ...gray }, mask.bytes);
  return file.putStream(id, { ...image, ...entries, SMask: ref(soft) }, bytes);
}

/** How FlateDecode undoes the filters of PNG. */
export const predictor = (colors: number, bits: number, columns: number): string =>
  dict({ Predictor: 15, Colors: colors, BitsPerComponent: bits, Columns: columns });
