import { type Color, Page } from "../pdf/page.ts";

export interface Geometry {
  width: number;
  height: number;
  margin: { top: number; bottom: number; side: number };
}

/** A coloured strip beside or behind the content, which continues on new pages as long as it is open. */
interface Bar {
  x: number;
  width: number;
  color: Color;
  top: number;
}

/** Fills pages from top to bottom. */
export class Flow {
  readonly pages: Page[] = [];
  readonly geometry: Geometry;
  readonly #mostPages: number;
  readonly #bars: Bar[] = [];
  /** The space before the next block, unless it begins a page. */
  #gap = 0;
  #y = 0;

  constructor(geometry: Geometry, mostPages: number) {
    this.geometry = geometry;
    this.#mostPages = mostPages;
    this.#add();
  }

  get page(): Page {
    const page = this.pages.at(-1);
    if (!page) throw new Error("There is no page");
    return page;
  }

  /** The position of the next block, from the upper edge of the page. */
  get y(): number {
    return this.#y;
  }

  /** The height of an empty page. */
  get pageRoom(): number {
    return this.#bottom - this.geometry.margin.top;
  }

  /** Requests space before the next block. Of several requests, the largest counts. */
  gap(height: number): void {
    this.#gap = Math.max(this.#gap, height);
  }

  /** Whether this height fits on the page. On an empty page all heights fit, since no page has more room. */
  fits(height: number): boolean {
    return this.#atTop || this.#y + this.#gap + height <= this.#bottom + 0.01;
  }

  /** The height that is left on the page, below the requested space. */
  get left(): number {
    return this.#bottom - this.#y - (this.#atTop ? 0 : this.#gap);
  }

  /** Begins a new page if this height does not fit; adds the requested space. */
  need(height: number): void {
    if (!this.fits(height)) this.newPage();
    if (!this.#atTop) this.#y += this.#gap;
    this.#gap = 0;
  }

  /** Moves down by this height. */
  take(height: number): void {
    this.#y += height;
  }

  newPage(): void {
    for (const bar of this.#bars) this.#draw(bar);
    this.#add();
    for (const bar of this.#bars) bar.top = this.#y;
  }

  /** Opens a strip. The returned function closes it. */
  open(x: number, width: number, color: Color): () => void {
    this.need(0);
    const bar: Bar = { x, width, color, top: this.#y };
    this.#bars.push(bar);
    return () => {
      this.#draw(bar);
      this.#bars.splice(this.#bars.indexOf(bar), 1);
    };
  }

  get #atTop(): boolean {
    return this.#y <= this.geometry.margin.top;
  }

  get #bottom(): number {
    return this.geometry.height - this.geometry.margin.bottom;
  }

  #draw({ x, width, color, top }: Bar): void {
    if (this.#y > top) this.page.background({ x, y: top, width, height: this.#y - top }, color);
  }

  #add(): void {
    if (this.pages.length >= this.#mostPages) {
      throw new Error(`The PDF would have more than ${this.#mostPages} pages: shorten the document or split it`);
    }
    this.pages.push(new Page(this.geometry.width, this.geometry.height));
    this.#y = this.geometry.margin.top;
    this.#gap = 0;
  }
}
