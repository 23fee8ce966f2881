import type { Typefaces } from "../fonts/typeface.ts";
import type { Span } from "../read/blocks.ts";
import type { Wish } from "./columns.ts";
import { type Base, styleOf } from "./style.ts";

/** The greatest measured width, since wider text is broken anyway. */
const farthest = 2_000;

/** The width of a text's longest word, and of the whole text in one line. */
export function widthsOf(spans: readonly Span[], base: Base, typefaces: Typefaces): Wish {
  const wish: Wish = { least: 0, most: 0 };
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
  // A small addition, so that rounding does not break a line.
  return { least: wish.least + 0.1, most: wish.most + 0.1 };
}
