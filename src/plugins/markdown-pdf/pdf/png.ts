import type { Pace } from "../pace.ts";
import { deflate, drained } from "./bytes.ts";
import type { PictureData } from "./picture.ts";

interface Header {
  width: number;
  height: number;
  bits: number;
  color: number;
  interlaced: boolean;
}

interface Chunks {
  header: Header;
  palette: Uint8Array;
  transparency: Uint8Array;
  /** The compressed data of all chunks. */
  data: Blob;
}

const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** The number of values for each pixel, by colour type. */
const channels: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const depths: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};

/**
 * Reads a PNG. Its compressed data is stored unchanged; with transparency, colours and opacity are stored separately.
 * The data is always decompressed, up to the length that the header announces, so that a damaged PNG is refused. Throws
 * an `Error` that says why a PNG can't be shown.
 */
export async function readPng(bytes: Uint8Array<ArrayBuffer>, mostPixels: number, pace: Pace): Promise<PictureData> {
  const chunks = readChunks(bytes);
  const { width, height, bits, color, interlaced } = chunks.header;
  if (!depths[color]?.includes(bits) || width === 0 || height === 0) throw new Error("the PNG is damaged");
  if (interlaced) throw new Error("interlaced PNG images can't be shown");
  if (width * height > mostPixels) throw new Error(`an image may have at most ${mostPixels} pixels`);
  const raw = await unpacked(chunks);
  if (color === 4 || color === 6) return separated(chunks.header, raw, pace);
  const mask = color === 3 && chunks.transparency.length > 0 ? await paletteMask(chunks, raw, pace) : null;
  const colors = channels[color] ?? 1;
  return {
    width,
    height,
    entries: {
      ColorSpace: spaceOf(chunks),
      BitsPerComponent: bits,
      Filter: "FlateDecode",
      DecodeParms: { Predictor: 15, Colors: colors, BitsPerComponent: bits, Columns: width },
      ...colorKey(chunks),
    },
    bytes: await chunks.data.bytes(),
    mask,
  };
}

function readChunks(bytes: Uint8Array<ArrayBuffer>): Chunks {
  if (signature.some((byte, index) => bytes[index] !== byte)) throw new Error("this is neither a PNG nor a JPEG");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found = new Map<string, Uint8Array<ArrayBuffer>[]>();
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = view.getUint32(at);
    const name = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    const chunk = bytes.subarray(at + 8, at + 8 + length);
    const earlier = found.get(name);
    if (earlier) earlier.push(chunk);
    else found.set(name, [chunk]);
    at += 12 + length;
  }
  const first = (name: string) => found.get(name)?.[0] ?? new Uint8Array();
  const head = first("IHDR");
  const data = new Blob(found.get("IDAT"));
  if (head.length < 13 || data.size === 0) throw new Error("the PNG is damaged");
  const numbers = new DataView(head.buffer, head.byteOffset, head.byteLength);
  return {
    header: {
      width: numbers.getUint32(0),
      height: numbers.getUint32(4),
      bits: numbers.getUint8(8),
      color: numbers.getUint8(9),
      interlaced: numbers.getUint8(12) !== 0,
    },
    palette: first("PLTE"),
    transparency: first("tRNS"),
    data,
  };
}

const rowBytes = ({ width, bits, color }: Header) => Math.ceil((width * bits * (channels[color] ?? 1)) / 8);

async function unpacked({ header, data }: Chunks): Promise<Uint8Array<ArrayBuffer>> {
  const expected = (rowBytes(header) + 1) * header.height;
  try {
    const stream = data.stream().pipeThrough(new DecompressionStream("deflate"));
    const raw = await drained(stream, expected);
    if (raw.length === expected) return raw;
  } catch {}
  throw new Error("the PNG is damaged");
}

function spaceOf({ header: { color }, palette }: Chunks): unknown {
  if (color === 0) return "DeviceGray";
  if (color === 2) return "DeviceRGB";
  const entries = Math.floor(palette.length / 3);
  if (entries === 0 || entries > 256) throw new Error("the PNG is damaged");
  return ["Indexed", "DeviceRGB", entries - 1, palette.subarray(0, entries * 3)];
}

/** The one transparent colour that a PNG without a palette may have. */
function colorKey({ header: { color }, transparency }: Chunks): Record<string, number[]> {
  const values = color === 0 ? 1 : color === 2 ? 3 : 0;
  if (values === 0 || transparency.length < values * 2) return {};
  const view = new DataView(transparency.buffer, transparency.byteOffset, transparency.byteLength);
  const ranges = Array.from({ length: values }, (_, index) => view.getUint16(index * 2));
  return { Mask: ranges.flatMap((value) => [value, value]) };
}

/** Separates the colours of a PNG from its alpha channel. */
async function separated(header: Header, raw: Uint8Array<ArrayBuffer>, pace: Pace): Promise<PictureData> {
  const { width, height, bits, color } = header;
  const [sample, colors] = [bits / 8, color === 4 ? 1 : 3];
  const [pixels, alpha] = [new Uint8Array(width * height * colors * sample), new Uint8Array(width * height * sample)];
  const pixel = (colors + 1) * sample;
  let [to, toAlpha] = [0, 0];
  await eachRow(header, raw, pace, (row) => {
    for (let at = 0; at < row.length; at += pixel) {
      for (let i = 0; i < colors * sample; i++) pixels[to++] = row[at + i] ?? 0;
      for (let i = colors * sample; i < pixel; i++) alpha[toAlpha++] = row[at + i] ?? 0;
    }
  });
  const space = colors === 1 ? "DeviceGray" : "DeviceRGB";
  return {
    width,
    height,
    entries: { ColorSpace: space, BitsPerComponent: bits, Filter: "FlateDecode" },
    bytes: await deflate(pixels),
    mask: { bits, bytes: await deflate(alpha) },
  };
}

/** The opacity of each pixel, from the opacity of its colour in the palette. */
async function paletteMask(chunks: Chunks, raw: Uint8Array<ArrayBuffer>, pace: Pace): Promise<PictureData["mask"]> {
  const { header, transparency } = chunks;
  const alpha = new Uint8Array(header.width * header.height);
  const perByte = 8 / header.bits;
  let to = 0;
  await eachRow(header, raw, pace, (row) => {
    for (let x = 0; x < header.width; x++) {
      const shift = 8 - header.bits * ((x % perByte) + 1);
      const index = ((row[Math.floor(x / perByte)] ?? 0) >> shift) & (2 ** header.bits - 1);
      alpha[to++] = transparency[index] ?? 255;
    }
  });
  return { bits: 8, bytes: await deflate(alpha) };
}

/** Reverses the filters in place, and passes each row on (PNG, §9). */
async function eachRow(header: Header, raw: Uint8Array, pace: Pace, take: (row: Uint8Array) => void): Promise<void> {
  const length = rowBytes(header);
  const step = Math.max(1, (header.bits * (channels[header.color] ?? 1)) / 8);
  let above: Uint8Array = new Uint8Array(length);
  for (let y = 0; y < header.height; y++) {
    const start = y * (length + 1);
    const row = raw.subarray(start + 1, start + 1 + length);
    unfilter(raw[start] ?? 0, row, above, step);
    take(row);
    above = row;
    await pace.breathe();
  }
}

function unfilter(filter: number, row: Uint8Array, above: Uint8Array, step: number): void {
  if (filter === 0) return;
  for (let i = 0; i < row.length; i++) {
    const left = i < step ? 0 : (row[i - step] ?? 0);
    const up = above[i] ?? 0;
    const corner = i < step ? 0 : (above[i - step] ?? 0);
    row[i] = (row[i] ?? 0) + predicted(filter, left, up, corner);
  }
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}
