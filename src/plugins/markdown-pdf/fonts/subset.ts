import { joined } from "../pdf/objects.ts";
import type { TrueType } from "./true-type.ts";

/** A font with some glyphs of another: glyph `n` of it is `glyphs[n]` there. */
interface Subset {
  file: Uint8Array<ArrayBuffer>;
  numbers: ReadonlyMap<number, number>;
}

/** Makes a font file of the glyphs in use and of those that they are composed of; glyph 0 comes always. */
export function subsetOf(font: TrueType, used: Iterable<number>): Subset {
  const numbers = new Map<number, number>([[0, 0]]);
  for (const glyph of used) if (!numbers.has(glyph)) numbers.set(glyph, numbers.size);
  const outlines: Uint8Array<ArrayBuffer>[] = [];
  // The map grows while it is read: the parts of composed glyphs are added at its end.
  for (const glyph of numbers.keys()) outlines.push(renumbered(font.outlineOf(glyph), numbers));
  const tables = new Map([...copied(font), ...made(font, [...numbers.keys()], outlines)]);
  return { file: assembled(tables), numbers };
}

/** What outlines may rely on, as it is. */
const copied = (font: TrueType): [string, Uint8Array<ArrayBuffer>][] =>
  ["cvt ", "fpgm", "prep"]
    .map((name): [string, Uint8Array<ArrayBuffer>] => [name, font.table(name)])
    .filter(([, { length }]) => length > 0);

function made(
  font: TrueType,
  glyphs: readonly number[],
  outlines: readonly Uint8Array<ArrayBuffer>[],
): [string, Uint8Array<ArrayBuffer>][] {
  const loca = new DataView(new ArrayBuffer((glyphs.length + 1) * 4));
  const hmtx = new DataView(new ArrayBuffer(glyphs.length * 4));
  const padded = outlines.map((outline) => joined([outline], (outline.length + 3) & ~3));
  let offset = 0;
  for (const [number, glyph] of glyphs.entries()) {
    offset += padded[number]?.length ?? 0;
    loca.setUint32((number + 1) * 4, offset);
    hmtx.setUint16(number * 4, font.widthOf(glyph));
    hmtx.setInt16(number * 4 + 2, font.sideBearingOf(glyph));
  }
  return [
    ["glyf", joined(padded, offset)],
    ["head", changed(font.table("head"), { 8: 0, 10: 0, 50: 1 })],
    ["hhea", changed(font.table("hhea"), { 34: glyphs.length })],
    ["hmtx", new Uint8Array(hmtx.buffer)],
    ["loca", new Uint8Array(loca.buffer)],
    ["maxp", changed(font.table("maxp"), { 4: glyphs.length })],
  ];
}

/** A copy with other 16-bit numbers at some places. */
function changed(table: Uint8Array, numbers: Readonly<Record<number, number>>): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(table);
  for (const [at, value] of Object.entries(numbers)) new DataView(copy.buffer).setUint16(Number(at), value);
  return copy;
}

const flag = { words: 1, scale: 8, more: 32, scales: 64, matrix: 128 };

/** A copy of an outline, in which the parts of a composed glyph have their new numbers. */
function renumbered(outline: Uint8Array, numbers: Map<number, number>): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(outline);
  const view = new DataView(copy.buffer);
  if (copy.length === 0 || view.getInt16(0) >= 0) return copy;
  for (let at = 10, more = true; more; ) {
    const flags = view.getUint16(at);
    const part = view.getUint16(at + 2);
    if (!numbers.has(part)) numbers.set(part, numbers.size);
    view.setUint16(at + 2, numbers.get(part) ?? 0);
    at += 4 + (flags & flag.words ? 4 : 2);
    at += flags & flag.matrix ? 8 : flags & flag.scales ? 4 : flags & flag.scale ? 2 : 0;
    more = (flags & flag.more) !== 0;
  }
  return copy;
}

function assembled(tables: ReadonlyMap<string, Uint8Array<ArrayBuffer>>): Uint8Array<ArrayBuffer> {
  const sorted = [...tables].sort(([a], [b]) => (a < b ? -1 : 1));
  const directory = new DataView(new ArrayBuffer(12 + sorted.length * 16));
  const power = 2 ** Math.floor(Math.log2(sorted.length));
  directory.setUint32(0, 0x00010000);
  directory.setUint16(4, sorted.length);
  directory.setUint16(6, power * 16);
  directory.setUint16(8, Math.log2(power));
  directory.setUint16(10, (sorted.length - power) * 16);
  let offset = directory.byteLength;
  const bodies = sorted.map(([name, table], index) => {
    const at = 12 + index * 16;
    for (let i = 0; i < 4; i++) directory.setUint8(at + i, name.charCodeAt(i));
    const body = joined([table], (table.length + 3) & ~3);
    directory.setUint32(at + 4, checksum(body));
    directory.setUint32(at + 8, offset);
    directory.setUint32(at + 12, table.length);
    offset += body.length;
    return body;
  });
  const file = joined([new Uint8Array(directory.buffer), ...bodies], offset);
  const head = sorted.findIndex(([name]) => name === "head");
  const headAt = directory.getUint32(12 + head * 16 + 8);
  new DataView(file.buffer).setUint32(headAt + 8, (0xb1b0afba - checksum(file)) >>> 0);
  return file;
}

function checksum(bytes: Uint8Array<ArrayBuffer>): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 4) sum = (sum + view.getUint32(at)) >>> 0;
  return sum;
}
