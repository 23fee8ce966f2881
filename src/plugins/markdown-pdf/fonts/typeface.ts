import { type FontName, fontNames, type ReadFont } from "./names.ts";
import { TrueType } from "./true-type.ts";

/** A character as a page shows it. */
export interface Glyph {
  face: Face;
  /** The number of the character in its face, as four hexadecimal digits. */
  code: string;
  /** In thousandths of the size. */
  width: number;
}

/** A font of a document, with the characters that the document takes from it. */
export class Face {
  readonly name: FontName;
  readonly font: TrueType;
  /** In the order of their codes, which begin at 1. */
  readonly characters: { codePoint: number; glyph: number; width: number }[] = [];

  constructor(name: FontName, font: TrueType) {
    this.name = name;
    this.font = font;
  }

  add(codePoint: number, glyph: number): Glyph {
    const width = Math.round((this.font.widthOf(glyph) * 1000) / this.font.unitsPerEm);
    const code = this.characters.push({ codePoint, glyph, width });
    return { face: this, code: code.toString(16).padStart(4, "0"), width };
  }
}

/**
 * What is written from left to right, each character for itself. Scripts that join or reorder their characters would
 * come out wrong, so they are shown as missing even where a font has them.
 */
const plainScripts =
  /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Common}\p{Script=Inherited}]/u;

/** Characters that only tell how others are shown, and shades of skin. */
const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cs}\p{Emoji_Modifier}]/u;

/** A code has 16 bits. */
const mostCodes = 60_000;
const replacement = 0xfffd;

/** The fonts of a document. */
export class Typefaces {
  readonly faces: readonly Face[];
  /** The code points that no font has, which are shown as boxes. */
  readonly missing = new Set<number>();
  readonly #glyphs = new Map<FontName, Map<number, Glyph | null>>();

  constructor(faces: readonly Face[]) {
    this.faces = faces;
  }

  static async load(read: ReadFont): Promise<Typefaces> {
    return new Typefaces(
      await Promise.all(fontNames.map(async (name) => new Face(name, new TrueType(await read(name))))),
    );
  }

  /** The glyph of a character in a font, or in one that stands in for it; null for what is not to be seen. */
  glyph(name: FontName, codePoint: number): Glyph | null {
    const known = this.#glyphs.get(name) ?? new Map<number, Glyph | null>();
    this.#glyphs.set(name, known);
    const glyph = known.get(codePoint);
    if (glyph !== undefined) return glyph;
    const found = this.#find(name, codePoint);
    known.set(codePoint, found);
    return found;
  }

  #find(name: FontName, codePoint: number): Glyph | null {
    const character = String.fromCodePoint(codePoint);
    if (invisible.test(character)) return null;
    for (const candidate of plainScripts.test(character) ? [name, "symbols", "emoji"] : []) {
      const face = this.#face(candidate);
      const glyph = face.font.glyphOf(codePoint);
      if (glyph !== 0) return this.#share(candidate, name, codePoint) ?? face.add(codePoint, glyph);
    }
    this.missing.add(codePoint);
    const face = this.#face(name);
    if (face.characters.length < mostCodes || codePoint === replacement) return face.add(codePoint, 0);
    return this.glyph(name, replacement);
  }

  /** What stands in for several fonts has one code for a character. */
  #share(candidate: string, name: FontName, codePoint: number): Glyph | null {
    if (candidate === name) return null;
    for (const known of this.#glyphs.values()) {
      const glyph = known.get(codePoint);
      if (glyph?.face.name === candidate) return glyph;
    }
    return null;
  }

  #face(name: string): Face {
    const face = this.faces.find((one) => one.name === name);
    if (!face) throw new Error(`There is no font ${name}`);
    return face;
  }
}
