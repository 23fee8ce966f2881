import { crc32, deflateSync } from "node:zlib";

interface Header {
  width: number;
  height: number;
  bits?: number;
  /** 0 gray, 2 RGB, 3 palette, 4 gray with alpha, 6 RGB with alpha. */
  color?: number;
  interlaced?: boolean;
}

/** A PNG whose rows are these bytes, each after the number of its filter. */
export function png(header: Header, rows: readonly number[][], more: Readonly<Record<string, number[]>> = {}) {
  const { width, height, bits = 8, color = 2, interlaced = false } = header;
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([bits, color, 0, 0, interlaced ? 1 : 0], 8);
  const data = deflateSync(Buffer.from(rows.flat()));
  const others = Object.entries(more).map(([name, bytes]) => chunk(name, Buffer.from(bytes)));
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    ...[chunk("IHDR", head), ...others, chunk("IDAT", data), chunk("IEND", Buffer.alloc(0))],
  ]);
}

function chunk(name: string, bytes: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name), bytes]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(bytes.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** The header of a JPEG, as far as a PDF needs it. */
export const jpeg = ({ width = 4, height = 2, colors = 3, bits = 8, marker = 0xc0 } = {}): Buffer =>
  Buffer.from([
    ...[0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, marker, 0, 8 + 3 * colors, bits],
    ...[height >> 8, height & 255, width >> 8, width & 255, colors],
    ...Array.from({ length: colors }, (_, index) => [index + 1, 0x11, 0]).flat(),
    ...[0xff, 0xd9],
  ]);

export const address = (bytes: Buffer, type = "png"): string => `data:image/${type};base64,${bytes.toString("base64")}`;
