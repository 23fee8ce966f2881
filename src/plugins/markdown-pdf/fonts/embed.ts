import { array, decimal, dict, encode, type ObjectFile, type ObjectId, ref } from "../pdf/objects.ts";
import { subsetOf } from "./subset.ts";
import type { Face } from "./typeface.ts";

/** Puts a font into the file with the characters that the document has of it, and says which text they are. */
export async function embedFace(file: ObjectFile, face: Face, tag: string): Promise<ObjectId> {
  const { font, characters } = face;
  const subset = subsetOf(
    font,
    characters.map(({ glyph }) => glyph),
  );
  const glyphs = new DataView(new ArrayBuffer((characters.length + 1) * 2));
  for (const [index, { glyph }] of characters.entries()) {
    glyphs.setUint16((index + 1) * 2, subset.numbers.get(glyph) ?? 0);
  }
  const baseFont = `/${tag}+AgentEngine-${face.name}`;
  const upright = font.italicAngle === 0;
  const descriptor = file.add(
    dict({
      Type: "/FontDescriptor",
      FontName: baseFont,
      // Symbolic, and of one width, and slanted.
      Flags: 4 + (face.name.startsWith("mono") ? 1 : 0) + (upright ? 0 : 64),
      FontBBox: array(font.box),
      ItalicAngle: decimal(font.italicAngle),
      Ascent: decimal(font.ascent),
      Descent: decimal(-font.descent),
      CapHeight: decimal(font.capHeight),
      StemV: face.name.includes("bold") ? 140 : 80,
      FontFile2: ref(await file.addCompressed(subset.file, { Length1: subset.file.length })),
    }),
  );
  const descendant = file.add(
    dict({
      Type: "/Font",
      Subtype: "/CIDFontType2",
      BaseFont: baseFont,
      CIDSystemInfo: dict({ Registry: "(Adobe)", Ordering: "(Identity)", Supplement: 0 }),
      FontDescriptor: ref(descriptor),
      W: array([1, array(characters.map(({ width }) => width))]),
      CIDToGIDMap: ref(await file.addCompressed(new Uint8Array(glyphs.buffer))),
    }),
  );
  return file.add(
    dict({
      Type: "/Font",
      Subtype: "/Type0",
      BaseFont: baseFont,
      Encoding: "/Identity-H",
      DescendantFonts: array([ref(descendant)]),
      ToUnicode: ref(await file.addCompressed(encode(toUnicode(face)))),
    }),
  );
}

/** The map from codes to text, by which readers search and copy. A block of it may have 100 lines. */
function toUnicode({ characters }: Face): string {
  const lines = characters.map(({ codePoint }, index) => `<${hex(index + 1)}> <${utf16(codePoint)}>`);
  const blocks: string[] = [];
  for (let at = 0; at < lines.length; at += 100) {
    const block = lines.slice(at, at + 100);
    blocks.push(`${block.length} beginbfchar\n${block.join("\n")}\nendbfchar`);
  }
  return [
    "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap",
    "/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def",
    "/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def",
    "1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange",
    ...blocks,
    "endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend",
  ].join("\n");
}

const hex = (number: number) => number.toString(16).padStart(4, "0");

function utf16(codePoint: number): string {
  const text = String.fromCodePoint(codePoint);
  return Array.from({ length: text.length }, (_, index) => hex(text.charCodeAt(index))).join("");
}
