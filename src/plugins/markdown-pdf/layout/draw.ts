import type { Box, Page, Target } from "../pdf/page.ts";
import type { Line, Run } from "./lines.ts";
import { shade } from "./style.ts";

/** The most links, since each is an object in the file. */
export const mostLinks = 10_000;

/** Draws lines onto pages. */
export class Pen {
  /** The number of all links, including those above the limit, which are not written. */
  links = 0;

  draw(page: Page, line: Line, left: number, top: number): void {
    let x = left;
    const links: { box: Box; target: Target }[] = [];
    for (const piece of line.pieces) {
      const { width } = piece;
      const box: Box =
        piece.kind === "run"
          ? { x, y: top, width, height: line.height }
          : { x, y: top + line.baseline - piece.height, width, height: piece.height };
      if (piece.kind === "run") this.#run(page, piece, x, top + line.baseline);
      else page.picture(piece.picture, box);
      const target = piece.kind === "run" ? piece.style.target : piece.target;
      const last = links.at(-1);
      if (target && last?.target === target && last.box.x + last.box.width >= x - 0.01) last.box.width += width;
      else if (target) links.push({ box, target });
      x += width;
    }
    for (const { box, target } of links) if (++this.links <= mostLinks) page.link(box, target);
  }

  #run(page: Page, { style, face, codes, width }: Run, x: number, baseline: number): void {
    const { size, color } = style;
    if (style.shaded) page.background({ x, y: baseline - size * 0.95, width, height: size * 1.25 }, shade);
    const font = face.embedded;
    page.text({ x, baseline: baseline - style.rise, font, size, color, codes, slanted: style.slanted });
    const thickness = size / 16;
    if (style.target) page.rectangle({ x, y: baseline + size * 0.12, width, height: thickness }, color);
    if (style.struck) page.rectangle({ x, y: baseline - size * 0.27, width, height: thickness }, color);
  }
}
