import { normalized } from "../../../core/text/text.ts";
import type { Face, Typefaces } from "../fonts/typeface.ts";
import type { Target } from "../pdf/page.ts";
import type { Picture } from "../pdf/picture.ts";
import type { Span } from "../read/blocks.ts";
import { type Base, styleOf, type TextStyle } from "./style.ts";

/** Characters beside each other in the same style. */
export interface Run {
  kind: "run";
  style: TextStyle;
  face: Face;
  codes: string;
  width: number;
}

interface PlacedPicture {
  kind: "picture";
  picture: Picture;
  width: number;
  height: number;
  target: Target | null;
}

type Piece = Run | PlacedPicture;

export interface Line {
  pieces: Piece[];
  width: number;
  height: number;
  /** How far the baseline is below the line's upper edge. */
  baseline: number;
}

/** The space in which lines are set. */
export interface Room {
  width: number;
  /** The greatest height of a picture. */
  height: number;
}

/** Half the height of a capital, in font sizes. */
const halfCapital = 0.357;

/** Sets running text into lines. */
export function* linesOf(spans: readonly Span[], base: Base, room: Room, typefaces: Typefaces): Generator<Line, void> {
  const breaker = new LineBreaker(base, room, typefaces);
  for (const span of spans) {
    if (span.kind === "break") yield* breaker.break();
    else if (span.kind === "picture") yield* breaker.picture(span.picture, span.target);
    else yield* breaker.text(span.text, styleOf(span.emphasis, base));
  }
  yield* breaker.finish();
}

/** Sets a line of code, with its spaces, on one or more lines. */
export function* codeLinesOf(text: string, style: TextStyle, room: Room, typefaces: Typefaces): Generator<Line, void> {
  const breaker = new LineBreaker({ ...style, bold: false }, room, typefaces);
  yield* breaker.code(text, style);
  yield* breaker.break();
}

const spaces = new Set([" ", "\t", "\n"]);

/** A line may end after these characters. East Asian texts may break after any character. */
const breakable = /[-–—/\u200b\p{Ideographic}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const combining = /\p{M}/u;

class LineBreaker {
  readonly #base: Base;
  readonly #room: Room;
  readonly #typefaces: Typefaces;
  #line: Piece[] = [];
  #lineWidth = 0;
  /** The parts of a word that can't be separated, and the space before it. */
  #word: Piece[] = [];
  #wordWidth = 0;
  #gap: Run | null = null;

  constructor(base: Base, room: Room, typefaces: Typefaces) {
    this.#base = base;
    this.#room = room;
    this.#typefaces = typefaces;
  }

  *text(text: string, style: TextStyle): Generator<Line, void> {
    for (const character of normalized(text, "NFC")) {
      if (spaces.has(character)) {
        yield* this.#endWord();
        this.#space(style);
        continue;
      }
      yield* this.#character(character, style);
      if (breakable.test(character)) yield* this.#endWord();
    }
  }

  *code(text: string, style: TextStyle): Generator<Line, void> {
    let column = 0;
    for (const character of text) {
      const repeat = character === "\t" ? 4 - (column % 4) : 1;
      for (let i = 0; i < repeat; i++) yield* this.#character(character === "\t" ? " " : character, style);
      if (character === " ") yield* this.#endWord();
      column += repeat;
    }
  }

  *picture(picture: Picture, target: Target | null): Generator<Line, void> {
    yield* this.#endWord();
    // Screens have 96 pixels for 72 points of a page.
    const scale = Math.min(0.75, this.#room.width / picture.width, this.#room.height / picture.height);
    const [width, height] = [picture.width * scale, picture.height * scale];
    this.#word.push({ kind: "picture", picture, width, height, target });
    this.#wordWidth = width;
    yield* this.#endWord();
  }

  /** Ends the line, even an empty one. */
  *break(): Generator<Line, void> {
    yield* this.#endWord();
    yield this.#endLine();
  }

  *finish(): Generator<Line, void> {
    yield* this.#endWord();
    if (this.#line.length > 0) yield this.#endLine();
  }

  *#character(character: string, style: TextStyle): Generator<Line, void> {
    const glyph = this.#typefaces.glyph(style.font, character.codePointAt(0) ?? 0);
    if (!glyph) return;
    const width = (glyph.width * style.size) / 1000;
    if (this.#wordWidth + width > this.#room.width && !combining.test(character)) yield* this.#tear();
    const last = this.#word.at(-1);
    if (last?.kind === "run" && last.style === style && last.face === glyph.face) {
      last.codes += glyph.code;
      last.width += width;
    } else this.#word.push({ kind: "run", style, face: glyph.face, codes: glyph.code, width });
    this.#wordWidth += width;
  }

  /** Breaks a word that is wider than the line. */
  *#tear(): Generator<Line, void> {
    yield* this.#endWord();
    if (this.#line.length > 0) yield this.#endLine();
  }

  *#endWord(): Generator<Line, void> {
    if (this.#word.length === 0) return;
    yield* this.#makeRoom(this.#wordWidth);
    if (this.#gap && this.#line.length > 0) this.#append(this.#gap);
    for (const piece of this.#word) this.#append(piece);
    this.#word = [];
    this.#wordWidth = 0;
    this.#gap = null;
  }

  *#makeRoom(width: number): Generator<Line, void> {
    const needed = this.#lineWidth + (this.#gap?.width ?? 0) + width;
    if (this.#line.length > 0 && needed > this.#room.width) yield this.#endLine();
  }

  #endLine(): Line {
    const line = this.#measured(this.#line);
    this.#line = [];
    this.#lineWidth = 0;
    this.#gap = null;
    return line;
  }

  #space(style: TextStyle): void {
    const glyph = this.#typefaces.glyph(style.font, 0x20);
    if (this.#gap || this.#line.length === 0 || !glyph) return;
    this.#gap = { kind: "run", style, face: glyph.face, codes: glyph.code, width: (glyph.width * style.size) / 1000 };
  }

  #append(piece: Piece): void {
    const last = this.#line.at(-1);
    if (piece.kind === "run" && last?.kind === "run" && last.style === piece.style && last.face === piece.face) {
      last.codes += piece.codes;
      last.width += piece.width;
    } else this.#line.push(piece.kind === "run" ? { ...piece } : piece);
    this.#lineWidth += piece.width;
  }

  #measured(pieces: Piece[]): Line {
    const height = this.#base.size * this.#base.leading;
    const baseline = height / 2 + halfCapital * this.#base.size;
    const tallest = Math.max(0, ...pieces.map((piece) => (piece.kind === "picture" ? piece.height : 0)));
    const extra = Math.max(0, tallest - baseline);
    return { pieces, width: this.#lineWidth, height: height + extra, baseline: baseline + extra };
  }
}
