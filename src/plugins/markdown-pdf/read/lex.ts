import { Lexer, type TokensList } from "marked";
import { BoundedTokenizer, readInline } from "../../../markdown/bounds.ts";
import type { Pace } from "../pace.ts";

/** How much text is lexed at once: the lexer can't be interrupted, and takes quadratic time for some texts. */
const segmentLength = 24_000;
const inlineLength = 4_000;

/** Lexes Markdown in GitHub's flavour, piece by piece. */
export async function lex(markdown: string, pace: Pace): Promise<TokensList> {
  const lexer = new Lexer({ gfm: true, tokenizer: new BoundedTokenizer() });
  const source = markdown.replace(/\r\n?/g, "\n");
  for (const segment of segments(source)) {
    lexer.blockTokens(segment, lexer.tokens);
    await pace.breathe();
  }
  for (const { src, tokens } of lexer.inlineQueue) {
    for (const piece of pieces(src)) {
      readInline(lexer, piece, tokens);
      await pace.breathe();
    }
  }
  return lexer.tokens;
}

/** How many characters of a line with an image's data are read. */
const lineLength = 2_000;

/**
 * Divides a long text before a line that begins a new block; if it gets twice as long, after any empty line; if much
 * longer, anywhere. A short text is a single segment, so that nothing visible is divided.
 */
function* segments(source: string): Generator<string> {
  let [start, length, fence, blank] = [0, 0, "", true];
  for (let at = 0; at < source.length; ) {
    const end = source.indexOf("\n", at) + 1 || source.length;
    const line = source.slice(at, Math.min(end, at + 200));
    const apart = blank && fence === "";
    const most = apart ? (/^[^\s>\-*+\d|<]/.test(line) ? segmentLength : 2 * segmentLength) : 4 * segmentLength;
    if (length > most) {
      yield source.slice(start, at);
      [start, length] = [at, 0];
    }
    length += Math.min(end - at, lineLength);
    fence = fenceAfter(line, fence);
    blank = line.trim() === "";
    at = end;
  }
  yield source.slice(start);
}

/** The fence that is open after a line; empty when none is open. */
function fenceAfter(line: string, open: string): string {
  const marks = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? "";
  if (open === "") return marks;
  return marks.startsWith(open) && line.trim() === marks ? "" : open;
}

/** The data of an image in a link. */
const imageData = /\(data:[A-Za-z0-9.+/;,=%-]*\)/y;

/** Divides a long paragraph between words, or anywhere if it has none, but never inside an image. */
function* pieces(source: string): Generator<string> {
  let start = 0;
  while (source.length - start > inlineLength) {
    const space = source.lastIndexOf(" ", start + inlineLength);
    const end = space > start + inlineLength / 2 ? space + 1 : start + inlineLength;
    imageData.lastIndex = Math.max(start, source.lastIndexOf("(data:", end));
    const past = imageData.test(source) ? Math.max(end, imageData.lastIndex) : end;
    yield source.slice(start, past);
    start = past;
  }
  yield source.slice(start);
}
