import { decodeHTML } from "entities/decode";
import type { MarkedToken, Token, Tokens } from "marked";
import type { Pace } from "../pace.ts";
import type { Picture } from "../pdf/picture.ts";
import { readPicture } from "../pdf/read-picture.ts";
import { type Alignment, type Block, type ListItem, plain } from "./blocks.ts";
import { type Pictures, spansOf } from "./inline.ts";
import { lex } from "./lex.ts";

export interface ReadDocument {
  blocks: Block[];
  /** Why some images are not shown. */
  warnings: string[];
}

/** Reads Markdown and its images into the blocks of a document. */
export async function readMarkdown(markdown: string, pace: Pace): Promise<ReadDocument> {
  const tokens = await lex(markdown, pace);
  const gallery = new Gallery(pace);
  const blocks = await new BlockReader((address) => gallery.picture(address), pace).read(tokens);
  return { blocks, warnings: gallery.warnings };
}

/** The most images, since readers hold all images of a page in memory at once. */
const mostPictures = 100;

class Gallery {
  readonly warnings: string[] = [];
  readonly #pace: Pace;
  #count = 0;
  readonly #known = new Map<string, Picture | null>();

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  async picture(address: string): Promise<Picture | null> {
    const known = this.#known.get(address);
    if (known !== undefined) return known;
    const read = await this.#read(address);
    this.#known.set(address, read);
    return read;
  }

  async #read(address: string): Promise<Picture | null> {
    try {
      if (this.#count >= mostPictures) throw new Error(`a document may have ${mostPictures} different images`);
      const picture = await readPicture(address, this.#pace);
      return { ...picture, name: `I${++this.#count}` };
    } catch (error) {
      this.#warn(
        `An image is not shown (${address.slice(0, 60)}): ${error instanceof Error ? error.message : "damaged"}`,
      );
      return null;
    }
  }

  #warn(warning: string): void {
    if (this.warnings.length < 20) this.warnings.push(warning);
  }
}

class BlockReader {
  readonly #pictures: Pictures;
  readonly #pace: Pace;

  constructor(pictures: Pictures, pace: Pace) {
    this.#pictures = pictures;
    this.#pace = pace;
  }

  async read(tokens: readonly Token[]): Promise<Block[]> {
    const blocks: Block[] = [];
    for (const token of tokens as readonly MarkedToken[]) {
      blocks.push(...(await this.#block(token)));
      await this.#pace.breathe();
    }
    return blocks;
  }

  async #block(token: MarkedToken): Promise<Block[]> {
    if (token.type === "heading")
      return [{ kind: "heading", level: token.depth, spans: await this.#spans(token.tokens) }];
    if (token.type === "paragraph") return [{ kind: "paragraph", spans: await this.#spans(token.tokens) }];
    if (token.type === "text") return [{ kind: "paragraph", spans: await this.#spans(token.tokens ?? [token]) }];
    if (token.type === "code") return [{ kind: "code", text: token.text }];
    if (token.type === "blockquote") return [{ kind: "quote", blocks: await this.read(token.tokens) }];
    if (token.type === "list") return [await this.#list(token)];
    if (token.type === "table") return [await this.#table(token)];
    if (token.type === "hr") return [{ kind: "rule" }];
    if (token.type === "html") return htmlBlocks(token.text);
    return [];
  }

  #spans(tokens: readonly Token[]) {
    return spansOf(tokens, this.#pictures, this.#pace);
  }

  async #list({ items, ordered, start, loose }: Tokens.List): Promise<Block> {
    const read: ListItem[] = [];
    for (const [index, item] of items.entries()) {
      const number = ordered ? `${Number(start || 0) + index}.` : "•";
      const marker = item.task ? (item.checked ? "☑" : "☐") : number;
      read.push({ marker, blocks: await this.read(item.tokens) });
    }
    return { kind: "list", loose, items: read };
  }

  async #table({ header, rows, align }: Tokens.Table): Promise<Block> {
    const cells = async (row: readonly Tokens.TableCell[]) => {
      const read = [];
      for (const { tokens } of row) read.push(await this.#spans(tokens));
      await this.#pace.breathe();
      return read;
    };
    const body = [];
    for (const row of rows) body.push(await cells(row));
    return {
      kind: "table",
      columns: align.map((alignment): Alignment => alignment ?? "left"),
      header: await cells(header),
      rows: body,
    };
  }
}

const htmlBlocks = (html: string): Block[] =>
  textOfHtml(html).map((text) => ({ kind: "paragraph", spans: [{ kind: "text", text, emphasis: plain }] }));

/** The elements whose content is not shown. */
const unseen = ["script", "style", "template"];

/** The text of an HTML block, one line for each of its lines that is not empty. */
function textOfHtml(html: string): string[] {
  const shown = unseen.reduce((rest, tag) => without(rest, `<${tag}`, `</${tag}>`), without(html, "<!--", "-->"));
  const text = decodeHTML(shown.replace(/<\/?[a-z][^<>]*>/gi, ""));
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** Removes the text between two marks, in any case. */
function without(text: string, from: string, to: string): string {
  const lower = text.toLowerCase();
  const kept: string[] = [];
  let at = 0;
  for (let start = lower.indexOf(from); start >= 0; start = lower.indexOf(from, at)) {
    kept.push(text.slice(at, start));
    const end = lower.indexOf(to, start + from.length);
    if (end < 0) return kept.join("");
    at = end + to.length;
  }
  return [...kept, text.slice(at)].join("");
}
