import type { Heading as PlacedHeading } from "../pdf/document.ts";
import { type Block, type ListItem, plain, type Span, textOf } from "../read/blocks.ts";
import { codeLinesOf } from "./lines.ts";
import type { Frame, Stage } from "./stage.ts";
import { bodyBase, codeStyle, gray, headingBase, lineGray, shade } from "./style.ts";
import { TableSetter } from "./table.ts";

type Heading = Extract<Block, { kind: "heading" }>;

const paragraphGap = 8;
const indent = 18;
/** Blocks in a narrower space than this are not indented further, so that their text stays readable. */
const leastWidth = 160;
const codePadding = 8;

/** Sets blocks onto the pages of a flow. */
export class Typesetter {
  readonly headings: PlacedHeading[] = [];
  readonly #stage: Stage;
  readonly #anchors = new Anchors();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  async set(blocks: readonly Block[], frame: Frame, gap = paragraphGap): Promise<void> {
    const { flow, pace } = this.#stage;
    for (const [index, block] of blocks.entries()) {
      flow.gap(gap);
      if (block.kind === "heading") await this.#heading(block, frame, heightAfter(blocks, index));
      else await this.#block(block, frame);
      flow.gap(gap);
      await pace.breathe();
    }
  }

  #block(block: Exclude<Block, Heading>, frame: Frame): Promise<void> {
    switch (block.kind) {
      case "paragraph":
        return this.#paragraph(block.spans, frame);
      case "code":
        return this.#code(block.text, frame);
      case "quote":
        return this.#quote(block.blocks, frame);
      case "list":
        return this.#list(block, frame);
      case "table":
        return new TableSetter(this.#stage, block, frame).set();
      case "rule":
        return this.#rule(frame);
    }
  }

  /** Sets a heading on a page that has this much space left for the text after it. */
  async #heading({ level, spans }: Heading, frame: Frame, after: number): Promise<void> {
    const { flow } = this.#stage;
    const base = headingBase(level);
    const lines = await this.#stage.lines(spans, { ...frame, base });
    const height = lines.reduce((sum, line) => sum + line.height, 0);
    flow.gap(level <= 2 ? 18 : 13);
    flow.need(Math.min(height + after, flow.pageRoom));
    const title = textOf(spans).replace(/\s+/g, " ").trim().slice(0, 500);
    if (title !== "") {
      const anchor = this.#anchors.of(title);
      this.headings.push({ title, level, anchor, page: flow.pages.length - 1, y: flow.y });
    }
    await this.#stage.place(lines, frame.left);
    if (level <= 2) {
      flow.take(3);
      flow.page.rectangle({ x: frame.left, y: flow.y, width: frame.width, height: 0.6 }, lineGray);
      flow.take(1);
    }
  }

  async #paragraph(spans: Span[], frame: Frame): Promise<void> {
    const lines = await this.#stage.lines(spans, frame);
    const first = lines.slice(0, 2).reduce((sum, line) => sum + line.height, 0);
    if (lines.length > 0 && first < this.#stage.flow.pageRoom) this.#stage.flow.need(first);
    await this.#stage.place(lines, frame.left);
  }

  async #code(text: string, frame: Frame): Promise<void> {
    const lineHeight = codeStyle.size * codeStyle.leading;
    this.#stage.flow.need(2 * codePadding + 2 * lineHeight);
    const close = this.#stage.flow.open(frame.left, frame.width, shade);
    this.#stage.flow.take(codePadding);
    const room = { width: frame.width - 2 * codePadding, height: 0 };
    for (const source of text.split("\n")) {
      for (const line of codeLinesOf(source, codeStyle, room, this.#stage.typefaces)) {
        if (!this.#stage.flow.fits(line.height + codePadding)) {
          this.#stage.flow.take(codePadding / 2);
          this.#stage.flow.newPage();
          this.#stage.flow.take(codePadding);
        }
        this.#stage.drawAt(line, frame.left + codePadding, this.#stage.flow.y);
        this.#stage.flow.take(line.height);
        await this.#stage.pace.breathe();
      }
    }
    this.#stage.flow.take(codePadding);
    close();
  }

  async #quote(blocks: Block[], frame: Frame): Promise<void> {
    const inner = this.#inset(frame, 14);
    const close = this.#stage.flow.open(frame.left, 2.5, lineGray);
    await this.set(blocks, { ...inner, base: { ...frame.base, color: gray } });
    close();
  }

  async #list({ items, loose }: { items: ListItem[]; loose: boolean }, frame: Frame): Promise<void> {
    const markers = [];
    for (const { marker } of items) {
      const span: Span = { kind: "text", text: marker, emphasis: plain };
      markers.push((await this.#stage.lines([span], frame))[0]);
    }
    const widest = markers.reduce((most, line) => Math.max(most, line?.width ?? 0), 0);
    const inner = this.#inset(frame, Math.max(indent, widest + 7));
    const gap = loose ? 5 : 2;
    for (const [index, { blocks }] of items.entries()) {
      this.#stage.flow.gap(gap);
      const line = markers[index];
      if (line) this.#stage.mark(line, inner.left - 6);
      await this.set(blocks, inner, gap);
      await this.#stage.placeMarks(frame);
    }
  }

  async #rule({ left, width }: Frame): Promise<void> {
    this.#stage.flow.need(16);
    this.#stage.flow.page.rectangle({ x: left, y: this.#stage.flow.y + 8, width, height: 0.8 }, lineGray);
    this.#stage.flow.take(16);
  }

  #inset(frame: Frame, by: number): Frame {
    if (frame.width - by < leastWidth) return frame;
    return { ...frame, left: frame.left + by, width: frame.width - by };
  }
}

/** The height to reserve below a heading: for headings after it, and three lines of text below those. */
function heightAfter(blocks: readonly Block[], index: number): number {
  let height = 3 * bodyBase.size * bodyBase.leading;
  for (const block of blocks.slice(index + 1, index + 5)) {
    if (block.kind !== "heading") break;
    height += 40;
  }
  return height;
}

/** Gives headings their names for links, as GitHub does. */
class Anchors {
  readonly #taken = new Map<string, number>();

  of(title: string): string {
    const name = title
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-");
    const times = this.#taken.get(name) ?? 0;
    this.#taken.set(name, times + 1);
    return times === 0 ? name : `${name}-${times}`;
  }
}
