import { type OutlineItem, PDFDocument, type PdfReference } from "pdfkit";
import type { Pace } from "../pace.ts";
import { drained } from "./bytes.ts";
import { addressOf, type Page } from "./page.ts";
import { embedPicture, type Picture } from "./picture.ts";

/** A heading and its position. */
export interface Heading {
  title: string;
  /** 1 is the highest level. */
  level: number;
  anchor: string;
  /** The page's index, from 0. */
  page: number;
  /** The distance from the page's upper edge. */
  y: number;
}

/** How much space a link to a heading shows above the heading. */
const spaceAbove = 8;

/** A document without XML metadata, since PDFKit would not escape the title there. */
class Document extends PDFDocument {
  override endMetadata(): void {}
}

interface Description {
  title: string;
  language: string | undefined;
  /** Milliseconds since the epoch. */
  createdAt: number;
}

/** Creates a document without pages and fonts. */
export function newDocument({ title, language, createdAt }: Description): PDFDocument {
  const maker = "Agent Engine";
  const info = { Title: title.toWellFormed(), Producer: maker, Creator: maker, CreationDate: new Date(createdAt) };
  // With any other `font`, PDFKit would read the file of a standard font, which is not in the bundle.
  return new Document({
    font: null,
    autoFirstPage: false,
    pdfVersion: "1.7",
    displayTitle: true,
    lang: language,
    info,
  });
}

/** Writes pages into a document and ends it. Returns the file. */
export async function writeDocument(
  document: PDFDocument,
  pages: readonly Page[],
  headings: readonly Heading[],
  pace: Pace,
): Promise<Uint8Array<ArrayBuffer>> {
  const images = new Map<Picture, PdfReference>();
  // PDFKit sorts names as texts, but readers search them as bytes. For ASCII names both orders are the same.
  const names = new Map(headings.map(({ anchor }, index) => [anchor, `heading-${index}`]));
  for (const [index, page] of pages.entries()) {
    document.addPage({ size: [page.width, page.height], margin: 0 });
    for (const font of page.fonts) document.page.fonts[font.id] = font.ref();
    for (const picture of page.pictures) {
      const image = images.get(picture) ?? embedPicture(document, picture);
      images.set(picture, image);
      document.page.xobjects[picture.name] = image;
    }
    document.addContent(page.content());
    writeLinks(document, page, names);
    for (const { anchor, y } of headings.filter((heading) => heading.page === index))
      document.addNamedDestination(names.get(anchor) ?? "", "XYZ", 0, y - spaceAbove, null);
    await pace.breathe();
  }
  writeOutline(document.outline, pages, headings);
  document.end();
  return drained(document);
}

/** Writes the links, except those to headings that do not exist. */
function writeLinks(document: PDFDocument, { links }: Page, names: ReadonlyMap<string, string>): void {
  for (const { box, target } of links) {
    const { x, y, width, height } = box;
    if ("address" in target) document.link(x, y, width, height, addressOf(target.address));
    else {
      const name = names.get(target.anchor);
      if (name !== undefined) document.goTo(x, y, width, height, name);
    }
  }
}

/** Writes the outline: each heading is below the last heading before it that has a higher level. */
function writeOutline(outline: OutlineItem, pages: readonly Page[], headings: readonly Heading[]): void {
  const open: { level: number; item: OutlineItem }[] = [];
  for (const { title, level, page, y } of headings) {
    while ((open.at(-1)?.level ?? 0) >= level) open.pop();
    const parent = open.at(-1)?.item ?? outline;
    // PDFKit counts `left` from the page's right edge.
    const place = { pageNumber: page, left: pages[page]?.width ?? 0, top: y - spaceAbove };
    open.push({ level, item: parent.addItem(title.toWellFormed(), { ...place, expanded: true }) });
  }
}
