import type { EmbeddedFont } from "pdfkit";
import type { Picture } from "./picture.ts";

/** Red, green and blue, each from 0 to 1. */
export type Color = readonly [number, number, number];

/** A rectangle in points from the page's upper left corner. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A piece of text, as hexadecimal character codes of the font. */
export interface PageText {
  x: number;
  /** The height of the baseline. */
  baseline: number;
  font: EmbeddedFont;
  size: number;
  color: Color;
  codes: string;
  /** Whether to slant the letters, for a font without an italic. */
  slanted: boolean;
}

/** The target of a link: an address, or a heading of the document. */
export type Target = { address: string } | { anchor: string };

/** A page while it is drawn, measured from its upper left corner: PDFKit turns the axes of its own pages. */
export class Page {
  readonly width: number;
  readonly height: number;
  readonly links: { box: Box; target: Target }[] = [];
  readonly fonts = new Set<EmbeddedFont>();
  readonly pictures = new Set<Picture>();
  /** Backgrounds. They are written before all other content, so that they can be drawn after it. */
  readonly #backgrounds: string[] = [];
  readonly #marks: string[] = [];

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
  }

  background(box: Box, color: Color): void {
    this.#backgrounds.push(this.#rectangle(box, color));
  }

  rectangle(box: Box, color: Color): void {
    this.#marks.push(this.#rectangle(box, color));
  }

  text({ x, baseline, font, size, color, codes, slanted }: PageText): void {
    const matrix = [1, 0, slanted ? 0.2 : 0, -1, x, baseline].map(decimal).join(" ");
    this.fonts.add(font);
    this.#marks.push(`BT /${font.id} ${decimal(size)} Tf ${fill(color)} ${matrix} Tm <${codes}> Tj ET`);
  }

  picture(picture: Picture, { x, y, width, height }: Box): void {
    const matrix = [width, 0, 0, -height, x, y + height].map(decimal).join(" ");
    this.pictures.add(picture);
    this.#marks.push(`q ${matrix} cm /${picture.name} Do Q`);
  }

  link(box: Box, target: Target): void {
    this.links.push({ box, target });
  }

  content(): string {
    return [...this.#backgrounds, ...this.#marks].join("\n");
  }

  #rectangle({ x, y, width, height }: Box, color: Color): string {
    return `${fill(color)} ${[x, y, width, height].map(decimal).join(" ")} re f`;
  }
}

const fill = (color: Color) => `${color.map(decimal).join(" ")} rg`;

/** A number in PDF syntax: to a thousandth, without an exponent. */
const decimal = (value: number): string => String(Math.round(value * 1000) / 1000);

/** A link's address. Characters outside of ASCII are percent-encoded. */
export const addressOf = (address: string): string =>
  (URL.parse(address)?.href ?? encodeURI(address.toWellFormed())).replace(/[^\x20-\x7e]/g, "");
