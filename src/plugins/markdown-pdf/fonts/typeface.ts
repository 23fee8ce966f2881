import type { EmbeddedFont, PDFDocument } from "pdfkit";
import { type FontName, fontNames, type ReadFont } from "./names.ts";

/** A character's shape in a font. */
export interface Glyph {
  face: Face;
  /** The character's code in its font, as four hexadecimal digits. */
  code: string;
  /** In thousandths of the size. */
  width: number;
}

/** A font of a document. The file contains only the glyphs of characters that are used. */
export class Face {
  readonly embedded: EmbeddedFont;
  readonly #glyphs = new Map<number, Glyph>();

  constructor(embedded: EmbeddedFont) {
    this.embedded = embedded;
  }

  has(codePoint: number): boolean {
    return this.embedded.font.glyphForCodePoint(codePoint).id !== 0;
  }

  /** The glyph of a character; a box if the font has none. */
  glyph(codePoint: number): Glyph {
    const known = this.#glyphs.get(codePoint);
    if (known) return known;
    const { font, subset, widths, unicode } = this.embedded;
    const { id, advanceWidth } = font.glyphForCodePoint(codePoint);
    const included = subset.includeGlyph(id);
    // Readers search and copy the text of a code. So characters that share a glyph, such as the box, have different
    // codes.
    const code = unicode[included] === undefined ? included : subset.glyphs.push(id) - 1;
    const width = Math.round((advanceWidth * 1000) / font.unitsPerEm);
    widths[code] = width;
    unicode[code] = [codePoint];
    const glyph = { face: this, code: code.toString(16).padStart(4, "0"), width };
    this.#glyphs.set(codePoint, glyph);
    return glyph;
  }
}

/**
 * Scripts that run from left to right, with separate characters. Scripts that join or reorder characters would be
 * written wrongly, so their characters count as missing even if a font has them.
 */
const plainScripts =
  /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Common}\p{Script=Inherited}]/u;

/** Characters that only modify their neighbours, and skin tones. */
const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cs}\p{Emoji_Modifier}]/u;

/** A code has 16 bits. */
const mostCodes = 60_000;
const replacement = 0xfffd;

/** The fonts of a document. */
export class Typefaces {
  /** The code points that no font has, which are shown as boxes. */
  readonly missing = new Set<number>();
  readonly #faces: ReadonlyMap<FontName, Face>;
  readonly #glyphs = new Map<FontName, Map<number, Glyph | null>>(fontNames.map((name) => [name, new Map()]));

  constructor(faces: ReadonlyMap<FontName, Face>) {
    this.#faces = faces;
  }

  /** Adds the fonts to a document. */
  static async load(document: PDFDocument, read: ReadFont): Promise<Typefaces> {
    const files = await Promise.all(fontNames.map(async (name) => [name, await read(name)] as const));
    return new Typefaces(new Map(files.map(([name, file]) => [name, new Face(document.font(file)._font)])));
  }

  /** The glyph of a character in a font, or else in a substitute font; null for an invisible character. */
  glyph(name: FontName, codePoint: number): Glyph | null {
    const known = this.#glyphs.get(name)?.get(codePoint);
    if (known !== undefined) return known;
    const found = this.#find(name, codePoint);
    this.#glyphs.get(name)?.set(codePoint, found);
    return found;
  }

  #find(name: FontName, codePoint: number): Glyph | null {
    const character = String.fromCodePoint(codePoint);
    if (invisible.test(character)) return null;
    const candidates: FontName[] = plainScripts.test(character) ? [name, "symbols", "emoji"] : [];
    const found = candidates.map((candidate) => this.#face(candidate)).find((face) => face.has(codePoint));
    if (found) return found.glyph(codePoint);
    this.missing.add(codePoint);
    const face = this.#face(name);
    return face.glyph(face.embedded.widths.length < mostCodes ? codePoint : replacement);
  }

  #face(name: FontName): Face {
    const face = this.#faces.get(name);
    if (!face) throw new Error(`There is no font ${name}`);
    return face;
  }
}
