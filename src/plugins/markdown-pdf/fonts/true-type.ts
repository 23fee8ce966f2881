// A font file as OpenType describes it: as much as setting text takes.

/** A TrueType font. Lengths are in thousandths of the size at which it is set. */
export class TrueType {
  readonly unitsPerEm: number;
  readonly ascent: number;
  readonly descent: number;
  readonly capHeight: number;
  readonly italicAngle: number;
  /** Left, bottom, right and top of a box that holds every glyph. */
  readonly box: readonly [number, number, number, number];
  readonly glyphs: number;
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #view: DataView;
  readonly #tables = new Map<string, { offset: number; length: number }>();
  readonly #longOffsets: boolean;
  readonly #metrics: number;
  /** Read when the first is asked for, since few documents use all fonts. */
  #characters: ReadonlyMap<number, number> | null = null;

  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let i = 0; i < this.#view.getUint16(4); i++) {
      const at = 12 + i * 16;
      const name = String.fromCharCode(...bytes.subarray(at, at + 4));
      this.#tables.set(name, { offset: this.#view.getUint32(at + 8), length: this.#view.getUint32(at + 12) });
    }
    const [head, hhea, os2] = [this.#viewOf("head"), this.#viewOf("hhea"), this.#viewOf("OS/2")];
    this.unitsPerEm = head.getUint16(18);
    const thousandths = (units: number) => (units * 1000) / this.unitsPerEm;
    const side = (at: number) => Math.round(thousandths(head.getInt16(at)));
    this.box = [side(36), side(38), side(40), side(42)];
    this.#longOffsets = head.getInt16(50) === 1;
    this.ascent = thousandths(hhea.getInt16(4));
    this.descent = thousandths(-hhea.getInt16(6));
    this.#metrics = hhea.getUint16(34);
    this.capHeight = os2.byteLength >= 90 ? thousandths(os2.getInt16(88)) : 700;
    this.italicAngle = this.#viewOf("post").getInt32(4) / 65_536;
    this.glyphs = this.#viewOf("maxp").getUint16(4);
  }

  /** The glyph of a code point; 0, a box, when the font has none. */
  glyphOf(codePoint: number): number {
    this.#characters ??= readCharacters(this.#viewOf("cmap"));
    return this.#characters.get(codePoint) ?? 0;
  }

  /** In the font's own units. */
  widthOf(glyph: number): number {
    return this.#viewOf("hmtx").getUint16(Math.min(glyph, this.#metrics - 1) * 4);
  }

  sideBearingOf(glyph: number): number {
    const at = glyph < this.#metrics ? glyph * 4 + 2 : this.#metrics * 4 + (glyph - this.#metrics) * 2;
    return this.#viewOf("hmtx").getInt16(at);
  }

  /** The description of a glyph's outline, empty for a space. */
  outlineOf(glyph: number): Uint8Array<ArrayBuffer> {
    const loca = this.#viewOf("loca");
    const offset = (index: number) => (this.#longOffsets ? loca.getUint32(index * 4) : loca.getUint16(index * 2) * 2);
    return this.table("glyf").subarray(offset(glyph), offset(glyph + 1));
  }

  /** The bytes of a table, none when the font lacks it. */
  table(name: string): Uint8Array<ArrayBuffer> {
    const { offset, length } = this.#tables.get(name) ?? { offset: 0, length: 0 };
    return this.#bytes.subarray(offset, offset + length);
  }

  #viewOf(name: string): DataView {
    const { buffer, byteOffset, byteLength } = this.table(name);
    return new DataView(buffer, byteOffset, byteLength);
  }
}

/** The glyphs by code point, of the table that covers most: of all Unicode (format 12), else of 16 bits (format 4). */
function readCharacters(cmap: DataView): Map<number, number> {
  const offsets = Array.from({ length: cmap.getUint16(2) }, (_, i) => cmap.getUint32(4 + i * 8 + 4));
  const found = (format: number) => offsets.find((offset) => cmap.getUint16(offset) === format);
  const [all, basic] = [found(12), found(4)];
  if (all !== undefined) return readGroups(cmap, all);
  return basic === undefined ? new Map() : readSegments(cmap, basic);
}

function readGroups(cmap: DataView, table: number): Map<number, number> {
  const characters = new Map<number, number>();
  for (let i = 0; i < cmap.getUint32(table + 12); i++) {
    const at = table + 16 + i * 12;
    const [first, last, glyph] = [cmap.getUint32(at), cmap.getUint32(at + 4), cmap.getUint32(at + 8)];
    for (let code = first; code <= last; code++) characters.set(code, glyph + code - first);
  }
  return characters;
}

function readSegments(cmap: DataView, table: number): Map<number, number> {
  const characters = new Map<number, number>();
  const double = cmap.getUint16(table + 6);
  for (let i = 0; i < double; i += 2) {
    const last = cmap.getUint16(table + 14 + i);
    const first = cmap.getUint16(table + 16 + double + i);
    const delta = cmap.getUint16(table + 16 + 2 * double + i);
    const rangeAt = table + 16 + 3 * double + i;
    const range = cmap.getUint16(rangeAt);
    for (let code = first; code <= last && code < 0xffff; code++) {
      const listed = range === 0 ? code : cmap.getUint16(rangeAt + range + (code - first) * 2);
      if (listed !== 0 || range === 0) characters.set(code, (listed + delta) & 0xffff);
    }
  }
  return characters;
}
