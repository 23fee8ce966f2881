import type { Typefaces } from "../fonts/typeface.ts";
import type { Block, Span } from "../read/blocks.ts";
import { type Band, bandsOf, type ColumnWidths } from "./columns.ts";
import type { Line } from "./lines.ts";
import type { Frame, Stage } from "./stage.ts";
import { type Base, lineGray, shade, styleOf } from "./style.ts";

type Table = Extract<Block, { kind: "table" }>;

const padding = { x: 6, y: 3.5 };
const thin = 0.6;

/** The cells of a row, each with its remaining lines. */
interface Row {
  cells: Line[][];
  head: boolean;
}

/** Sets a table: repeats its head on each page, wraps cells, and splits rows over pages where necessary. */
export class TableSetter {
  readonly #stage: Stage;
  readonly #table: Table;
  readonly #frame: Frame;
  readonly #base: Base;
  readonly #headBase: Base;

  constructor(stage: Stage, table: Table, frame: Frame) {
    const count = table.columns.length;
    const size = Math.min(frame.base.size, count <= 5 ? 9.5 : count <= 9 ? 8.5 : 7.5);
    this.#stage = stage;
    this.#table = table;
    this.#frame = frame;
    this.#base = { ...frame.base, size, leading: 1.4 };
    this.#headBase = { ...this.#base, bold: true };
  }

  async set(): Promise<void> {
    const bands = bandsOf(await this.#wishes(), this.#frame.width);
    for (const band of bands) {
      await this.#band(band);
      this.#stage.flow.gap(12);
    }
  }

  async #wishes(): Promise<ColumnWidths[]> {
    const { columns, header, rows } = this.#table;
    const wishes = columns.map((): ColumnWidths => ({ least: 20, most: 20 }));
    const count = (row: readonly Span[][], base: Base) => {
      for (const [column, wish] of wishes.entries()) {
        const { least, most } = widthsOf(row[column] ?? [], base, this.#stage.typefaces);
        wish.least = Math.max(wish.least, least + 2 * padding.x);
        wish.most = Math.max(wish.most, most + 2 * padding.x);
      }
    };
    count(header, this.#headBase);
    for (const row of rows) {
      count(row, this.#base);
      await this.#stage.pace.breathe();
    }
    return wishes;
  }

  async #band(band: Band): Promise<void> {
    const { flow } = this.#stage;
    const head = await this.#row(this.#table.header, band, true);
    const headHeight = heightOf(head);
    const repeats = headHeight < flow.pageRoom / 3;
    const nextPage = () => {
      flow.newPage();
      if (repeats)
        this.#slice(
          head,
          band,
          head.cells.map(({ length }) => length),
        );
    };
    flow.need(Math.min(headHeight + 2 * this.#base.size * this.#base.leading, flow.pageRoom));
    await this.#place(head, band, () => flow.newPage());
    for (const cells of this.#table.rows) {
      const row = await this.#row(cells, band, false);
      // A short row is not divided over pages.
      if (!flow.fits(heightOf(row)) && heightOf(row) < flow.pageRoom / 3) nextPage();
      await this.#place(row, band, nextPage);
    }
  }

  async #row(cells: readonly Span[][], { columns, widths }: Band, head: boolean): Promise<Row> {
    const base = head ? this.#headBase : this.#base;
    const lines: Line[][] = [];
    for (const [index, column] of columns.entries()) {
      const width = (widths[index] ?? 0) - 2 * padding.x;
      lines.push(await this.#stage.lines(cells[column] ?? [], { base, width }));
    }
    return { cells: lines, head };
  }

  async #place({ cells, head }: Row, band: Band, nextPage: () => void): Promise<void> {
    const { flow, pace } = this.#stage;
    let rest = cells;
    let fresh = false;
    do {
      const counts = rest.map((lines) => fitting(lines, flow.left - 2 * padding.y));
      const stuck = rest.some((lines, index) => lines.length > 0 && counts[index] === 0);
      if (stuck && !fresh) {
        nextPage();
        fresh = true;
        continue;
      }
      // A line that is higher than an empty page is drawn anyway.
      const taken = stuck ? rest.map((lines, index) => counts[index] || Math.min(1, lines.length)) : counts;
      this.#slice({ cells: rest, head }, band, taken);
      rest = rest.map((lines, index) => lines.slice(taken[index]));
      fresh = false;
      await pace.breathe();
    } while (rest.some(({ length }) => length > 0));
  }

  /** Draws the first lines of each cell, with their background. */
  #slice({ cells, head }: Row, { columns, widths }: Band, counts: readonly number[]): void {
    const { flow } = this.#stage;
    const shown = cells.map((lines, index) => lines.slice(0, counts[index]));
    const height = Math.max(heightOf({ cells: shown }), this.#base.size + 2 * padding.y);
    const width = widths.reduce((sum, one) => sum + one, 0);
    if (head) flow.page.background({ x: this.#frame.left, y: flow.y, width, height }, shade);
    let x = this.#frame.left;
    for (const [index, lines] of shown.entries()) {
      const inner = (widths[index] ?? 0) - 2 * padding.x;
      const alignment = this.#table.columns[columns[index] ?? 0];
      let top = flow.y + padding.y;
      for (const line of lines) {
        const over = Math.max(0, inner - line.width);
        const shift = alignment === "right" ? over : alignment === "center" ? over / 2 : 0;
        this.#stage.drawAt(line, x + padding.x + shift, top);
        top += line.height;
      }
      x += widths[index] ?? 0;
    }
    flow.take(height);
    flow.page.rectangle({ x: this.#frame.left, y: flow.y - thin, width, height: thin }, lineGray);
  }
}

const heightOf = ({ cells }: { cells: readonly (readonly Line[])[] }) =>
  Math.max(...cells.map((lines) => lines.reduce((sum, { height }) => sum + height, 0))) + 2 * padding.y;

/** The number of lines that fit into a height. */
function fitting(lines: readonly Line[], height: number): number {
  let left = height + 0.01;
  const over = lines.findIndex((line) => {
    left -= line.height;
    return left < 0;
  });
  return over < 0 ? lines.length : over;
}

/** The largest width that is measured, since wider text is broken anyway. */
const farthest = 2_000;

/** The width of a text's longest word, and of the whole text in one line. */
function widthsOf(spans: readonly Span[], base: Base, typefaces: Typefaces): ColumnWidths {
  const wish: ColumnWidths = { least: 0, most: 0 };
  let [word, line] = [0, 0];
  const add = (width: number) => {
    word += width;
    line += width;
    wish.least = Math.max(wish.least, word);
    wish.most = Math.max(wish.most, line);
  };
  for (const span of spans) {
    if (wish.least > farthest && wish.most > farthest) break;
    if (span.kind === "break") word = line = 0;
    else if (span.kind === "picture") add(span.picture.width * 0.75);
    else {
      const { font, size } = styleOf(span.emphasis, base);
      for (const character of span.text.slice(0, farthest)) {
        const width = ((typefaces.glyph(font, character.codePointAt(0) ?? 0)?.width ?? 0) * size) / 1000;
        if (/\s/.test(character)) word = 0;
        add(width);
        if (/\s/.test(character)) word = 0;
      }
    }
  }
  // A small addition, so that rounding breaks no line.
  return { least: wish.least + 0.1, most: wish.most + 0.1 };
}
