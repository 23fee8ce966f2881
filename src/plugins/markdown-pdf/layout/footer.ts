import { plain } from "../read/blocks.ts";
import { linesOf } from "./lines.ts";
import type { Stage } from "./stage.ts";
import { bodyBase, gray } from "./style.ts";

/** Writes page numbers such as "3 / 12"; none for a single page. */
export function drawFooters(stage: Stage): void {
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
