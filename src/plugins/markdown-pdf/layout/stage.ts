import type { Typefaces } from "../fonts/typeface.ts";
import type { Pace } from "../pace.ts";
import type { Span } from "../read/blocks.ts";
import { Pen } from "./draw.ts";
import type { Flow } from "./flow.ts";
import { type Line, linesOf } from "./lines.ts";
import type { Base } from "./style.ts";

/** The part of the page's width in which blocks are set. */
export interface Frame {
  left: number;
  width: number;
  base: Base;
}

/** The tools that all kinds of blocks share: pages, fonts, and list markers. */
export class Stage {
  readonly flow: Flow;
  readonly typefaces: Typefaces;
  readonly pace: Pace;
  readonly pen = new Pen();
  /** The markers of list items whose first line is still to come. */
  #markers: { line: Line; right: number }[] = [];

  constructor(flow: Flow, typefaces: Typefaces, pace: Pace) {
    this.flow = flow;
    this.typefaces = typefaces;
    this.pace = pace;
  }

  /** Sets running text into lines of the frame's width. */
  async lines(spans: readonly Span[], { base, width }: Pick<Frame, "base" | "width">): Promise<Line[]> {
    const room = { width, height: this.flow.pageRoom - 2 * base.size * base.leading };
    const lines: Line[] = [];
    for (const line of linesOf(spans, base, room, this.typefaces)) {
      lines.push(line);
      await this.pace.breathe();
    }
    return lines;
  }

  /** Places lines one below the other, on as many pages as needed. */
  async place(lines: readonly Line[], left: number): Promise<void> {
    for (const line of lines) {
      this.flow.need(line.height);
      this.drawAt(line, left, this.flow.y);
      this.flow.take(line.height);
      await this.pace.breathe();
    }
  }

  /** Puts an item's marker, which ends at `right`, beside the next line. */
  mark(line: Line, right: number): void {
    this.#markers.push({ line, right });
  }

  /** Draws a line at this height of the page, with the markers of items that begin with it. */
  drawAt(line: Line, left: number, top: number): void {
    for (const marker of this.#markers) {
      const x = marker.right - marker.line.width;
      this.pen.draw(this.flow.page, marker.line, x, top + line.baseline - marker.line.baseline);
    }
    this.#markers = [];
    this.pen.draw(this.flow.page, line, left, top);
  }

  /** Gives the markers of empty items a line. */
  async placeMarks({ base, left }: Frame): Promise<void> {
    if (this.#markers.length === 0) return;
    const height = base.size * base.leading;
    await this.place([{ pieces: [], width: 0, height, baseline: height / 2 + base.size * 0.357 }], left);
  }
}
