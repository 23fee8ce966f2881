import type { JsonObject } from "../../core/json.ts";
import type { PluginContext } from "../../core/plugins/plugin.ts";
import type { ReadFont } from "./fonts/names.ts";
import { Typefaces } from "./fonts/typeface.ts";
import { mostLinks } from "./layout/draw.ts";
import { Flow, type Geometry } from "./layout/flow.ts";
import { linesOf } from "./layout/lines.ts";
import { Stage } from "./layout/stage.ts";
import { bodyBase, gray } from "./layout/style.ts";
import { Typesetter } from "./layout/typesetter.ts";
import type { PdfOrder } from "./order.ts";
import { Pace } from "./pace.ts";
import { newDocument, writeDocument } from "./pdf/document.ts";
import { type Block, plain, textOf } from "./read/blocks.ts";
import { readMarkdown } from "./read/markdown.ts";

const mostMarkdownBytes = 512 * 1024;
const mostPages = 200;
const limitMs = 45_000;

/** A PDF that is not stored yet, with warnings for the model. */
export interface PdfFile {
  name: string;
  title: string;
  bytes: Uint8Array<ArrayBuffer>;
  pages: number;
  warnings: string[];
}

/** Makes a PDF and stores it as a file of the conversation. */
export async function create(order: PdfOrder, context: PluginContext, readFont: ReadFont): Promise<JsonObject> {
  const { signal } = context;
  const { name, bytes, pages, warnings } = await makePdf(order, { signal, now: () => context.now(), readFont });
  const { id, name: stored, size, url, expiresAt } = await context.saveFile({ name, mime: "application/pdf", bytes });
  return { id, name: stored, pages, size, url, expiresAt, ...(warnings.length > 0 ? { warnings } : {}) };
}

/** Makes a PDF. Throws an `Error` that names the exceeded limit. */
export async function makePdf(
  order: PdfOrder,
  { signal, now, readFont }: Pick<PluginContext, "signal" | "now"> & { readFont: ReadFont },
): Promise<PdfFile> {
  if (new TextEncoder().encode(order.markdown).length > mostMarkdownBytes) {
    throw new Error(`markdown: at most ${mostMarkdownBytes / 1024} KB: shorten the document or split it`);
  }
  const pace = new Pace(signal, limitMs);
  const { blocks, warnings } = await readMarkdown(order.markdown, pace);
  const title = titleOf(order, blocks);
  const document = newDocument({ title, language: order.language, createdAt: now() });
  const typefaces = await Typefaces.load(document, readFont);
  const stage = new Stage(new Flow(geometryOf(order), mostPages), typefaces, pace);
  const typesetter = new Typesetter(stage);
  await typesetter.set(withTitle(blocks, order.title), frameOf(stage.flow.geometry));
  drawFooters(stage);
  const bytes = await writeDocument(document, stage.flow.pages, typesetter.headings, pace);
  const all = [...warnings, ...missing(typefaces)];
  if (stage.pen.links > mostLinks) all.push(`Of the links only the first ${mostLinks} lead somewhere`);
  return { name: fileNameOf(order.fileName ?? title), title, bytes, pages: stage.flow.pages.length, warnings: all };
}

function geometryOf({ pageSize = "A4", landscape = false }: PdfOrder): Geometry {
  const [short, long] = pageSize === "A4" ? [595.28, 841.89] : [612, 792];
  const margin = { top: 60, bottom: 62, side: 60 };
  return landscape ? { width: long, height: short, margin } : { width: short, height: long, margin };
}

const frameOf = ({ width, margin }: Geometry) => ({
  left: margin.side,
  width: width - 2 * margin.side,
  base: bodyBase,
});

const isTop = (block: Block | undefined) => block?.kind === "heading" && block.level === 1;

/** Adds a title above the text, if the text does not begin with a heading. */
function withTitle(blocks: readonly Block[], title: string | undefined): Block[] {
  if (!title?.trim() || isTop(blocks[0])) return [...blocks];
  return [{ kind: "heading", level: 1, spans: [{ kind: "text", text: title, emphasis: plain }] }, ...blocks];
}

function titleOf({ title, fileName }: PdfOrder, blocks: readonly Block[]): string {
  const heading = blocks.find((block) => block.kind === "heading");
  const found = title?.trim() || (heading?.kind === "heading" && textOf(heading.spans).trim()) || fileName?.trim();
  return (found || "Document").replace(/\s+/g, " ").slice(0, 200);
}

/** A file name that all systems accept, with the extension `.pdf`. */
export function fileNameOf(wish: string): string {
  const name = wish
    .toWellFormed()
    .replace(/\.pdf$/i, "")
    .replace(/[\p{Cc}\p{Cf}\\/:*?"<>|]+/gu, " ")
    .replace(/\s+/g, " ")
    .replace(/^[ .]+/, "")
    .trim();
  return `${[...name].slice(0, 80).join("").trim() || "document"}.pdf`;
}

/** The warning about characters that no font contains, if there are any. */
function missing({ missing }: Typefaces): string[] {
  if (missing.size === 0) return [];
  const named = [...missing]
    .slice(0, 20)
    .map((code) => `${String.fromCodePoint(code)} (U+${code.toString(16).toUpperCase().padStart(4, "0")})`);
  const more = missing.size > named.length ? ` and ${missing.size - named.length} more` : "";
  return [`The fonts lack these characters, which are shown as boxes: ${named.join(", ")}${more}`];
}

/** Writes page numbers such as "3 / 12"; none for a single page. */
function drawFooters(stage: Stage): void {
  const { pages, geometry } = stage.flow;
  if (pages.length < 2) return;
  for (const [index, page] of pages.entries()) {
    const text = `${index + 1} / ${pages.length}`;
    const room = { width: geometry.width, height: geometry.height };
    const base = { ...bodyBase, size: 8.5, color: gray };
    for (const line of linesOf([{ kind: "text", text, emphasis: plain }], base, room, stage.typefaces)) {
      stage.pen.draw(page, line, (geometry.width - line.width) / 2, geometry.height - geometry.margin.bottom + 22);
    }
  }
}
