import { type Lexer, type Token, Tokenizer } from "marked";

// The lexer takes the square of the length for some texts, and calls itself for each level. Text beyond these bounds is
// read in pieces, so that marks that reach from one to the next stay as they are.

/** Deeper lists and quotes are text. */
const deepest = 50;

/** Each level reads all that is inside, so a long text may have fewer of them. In levels times characters. */
const mostRead = 1_000_000;

/**
 * Running text up to this length is read in one go, and a longer one with few marks: each mark may have the lexer look for
 * its end in all that follows, for each mark around it. In marks times marks times characters.
 */
const pieceLength = 1_000;
const mostWork = 400_000_000;

/** All that may begin something in running text. */
const marks = /[*_~`[\]<\\&@]|http|www/gi;

/** Takes lists and quotes that are nested too deeply for text, and reads the rows of a table only below a head of one. */
export class BoundedTokenizer extends Tokenizer {
  #depth = 0;

  override blockquote(source: string) {
    return this.#nested(source, () => super.blockquote(source));
  }

  override list(source: string) {
    return this.#nested(source, () => super.list(source));
  }

  /** The rows may go on to the end of the text, and would be read again for each line that is no head after all. */
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

/** Reads running text that is short. What is nested too deeply stays as it is. */
export function readInline(lexer: Lexer, source: string, tokens: Token[]): void {
  const before = tokens.length;
  try {
    lexer.inlineTokens(source, tokens);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    tokens.splice(before, tokens.length, { type: "text", raw: source, text: source });
  }
}

/** Parts running text that would take long, between lines or words, or anywhere when it has none. */
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
