import { Lexer, type Token, Tokenizer } from "marked";

// For some texts the lexer takes quadratic time, and it recurses for each level. Text beyond these limits is read in
// pieces; marks that span two pieces stay text.

/** Lists and quotes that are nested deeper are read as text. */
const deepest = 50;

/** The limit of levels times characters, since each level reads all text inside it. */
const mostRead = 1_000_000;

/**
 * Running text up to `pieceLength`, or with few marks, is read at once. Each mark may make the lexer search the rest of
 * the text, once for each mark around it, so `mostWork` limits marks times marks times characters.
 */
const pieceLength = 1_000;
const mostWork = 400_000_000;

/** Matches every character or word with which a mark in running text may begin. */
const marks = /[*_~`[\]<\\&@]|http|www/gi;

const { paragraph, table } = Lexer.rules.block.gfm;

/** The rules of blocks. A table's head ends a paragraph; its rows, which may be many, are not read for that. */
export const blockRules = {
  ...Lexer.rules.block.gfm,
  paragraph: new RegExp(
    paragraph.source.replace(table.source.slice(table.source.indexOf("(?:\\n((?:(?!")), "(?:\\n|$)"),
  ),
};

/** Reads lists and quotes that are nested too deeply as text, and looks for the rows of a table only below a head. */
export class BoundedTokenizer extends Tokenizer {
  #depth = 0;

  override blockquote(source: string) {
    return this.#nested(source, () => super.blockquote(source));
  }

  override list(source: string) {
    return this.#nested(source, () => super.list(source));
  }

  /** The rows may go on to the end of the text, and would be read again for each line that might be a head. */
  override table(source: string) {
    const queue = this.lexer.inlineQueue;
    const { length } = queue;
    const head = super.table(/^.*\n?.*/.exec(source)?.[0] ?? "");
    queue.length = length;
    return head && super.table(source);
  }

  #nested<T>({ length }: string, read: () => T): T | undefined {
    if (this.#depth >= deepest || this.#depth * length > mostRead) return undefined;
    this.#depth++;
    try {
      return read();
    } finally {
      this.#depth--;
    }
  }
}

/** Reads short running text. Text that is nested too deeply stays plain. */
export function readInline(lexer: Lexer, source: string, tokens: Token[]): void {
  const before = tokens.length;
  try {
    lexer.inlineTokens(source, tokens);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    tokens.splice(before, tokens.length, { type: "text", raw: source, text: source });
  }
}

/** Splits running text that would take long: between lines or words, or anywhere if it has neither. */
export function* inlinePieces(source: string): Generator<string> {
  let start = 0;
  const count = source.match(marks)?.length ?? 0;
  const isEasy = source.length <= pieceLength || count * count * source.length <= mostWork;
  while (!isEasy && source.length - start > pieceLength) {
    const half = start + pieceLength / 2;
    const ends = ["\n", " "].map((blank) => source.lastIndexOf(blank, start + pieceLength - 1) + 1);
    const end = ends.find((place) => place > half) ?? start + pieceLength;
    yield source.slice(start, end);
    start = end;
  }
  yield source.slice(start);
}
