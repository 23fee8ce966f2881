// The parts of PDFKit that the plugin uses. `@types/pdfkit` would declare Node's globals in all plugins.

declare module "pdfkit" {
  /** An object of the file. */
  export interface PdfReference {
    end(stream: Uint8Array): void;
  }

  export interface EmbeddedFont {
    id: string;
    font: { unitsPerEm: number; glyphForCodePoint(codePoint: number): { id: number; advanceWidth: number } };
    /** The glyphs that the file contains. A text refers to a glyph by its index in `glyphs`. */
    subset: { glyphs: number[]; includeGlyph(glyph: number): number };
    /** The width of each glyph of the subset, in thousandths of the size, and its text. */
    widths: number[];
    unicode: number[][];
    ref(): PdfReference;
  }

  export interface OutlineItem {
    addItem(title: string, options: { pageNumber: number; left: number; top: number; expanded: boolean }): OutlineItem;
  }

  export class PDFDocument implements AsyncIterable<Uint8Array> {
    readonly _font: EmbeddedFont;
    readonly outline: OutlineItem;
    readonly page: { fonts: Record<string, PdfReference>; xobjects: Record<string, PdfReference> };
    constructor(options: Record<string, unknown>);
    font(file: Uint8Array): this;
    ref(data: Record<string, unknown>): PdfReference;
    addPage(options: { size: [number, number]; margin: number }): this;
    addContent(content: string): this;
    addNamedDestination(name: string, kind: "XYZ", x: number, y: number, zoom: null): void;
    goTo(x: number, y: number, width: number, height: number, destination: string): this;
    link(x: number, y: number, width: number, height: number, address: string): this;
    end(): void;
    endMetadata(): void;
    [Symbol.asyncIterator](): AsyncIterator<Uint8Array>;
  }
}
