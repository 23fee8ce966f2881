import { isBlank } from "../text/text.ts";

/** Lines of Markdown that belong together: a paragraph, a list, a table, or fenced code. */
interface Block {
  lines: string[];
  /** The line that opened fenced code; null for other blocks. */
  fence: string | null;
}

/**
 * Splits a Markdown reply into parts of at most `limit` UTF-16 units for a messenger. A part ends between paragraphs if
 * possible, else between lines, sentences or words. Code that is split is fenced in each part; links and inline code
 * are split only if longer than a part. Empty for a blank reply.
 */
export function replyParts(markdown: string, limit: number): string[] {
  const parts: string[] = [];
  // A messenger would refuse a blank message, or show an empty one.
  if (isBlank(markdown)) return parts;
  let part = "";
  for (const piece of blocksOf(markdown).flatMap((block) => piecesOf(block, limit))) {
    const joined = part === "" ? piece : `${part}\n\n${piece}`;
    if (joined.length <= limit) {
      part = joined;
      continue;
    }
    if (part !== "") parts.push(part);
    part = piece;
  }
  if (part !== "") parts.push(part);
  return parts;
}

const opening = /^ {0,3}(`{3,}|~{3,})/;

function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | null = null;
  for (const line of markdown.replaceAll("\r\n", "\n").split("\n")) {
    if (open?.fence != null) {
      open.lines.push(line);
      if (closes(line, open.fence)) open = null;
      continue;
    }
    const isFence = opening.test(line);
    if (!isFence && line.trim() === "") {
      open = null;
    } else if (open && !isFence) {
      open.lines.push(line);
    } else {
      open = { lines: [line], fence: isFence ? line : null };
      blocks.push(open);
    }
  }
  return blocks;
}

const marksOf = (fence: string) => opening.exec(fence)?.[1] ?? "```";

function closes(line: string, fence: string): boolean {
  const marks = line.trim();
  const opened = marksOf(fence);
  return marks.length >= opened.length && marks === opened.charAt(0).repeat(marks.length);
}

function piecesOf({ lines, fence }: Block, limit: number): string[] {
  const text = lines.join("\n");
  if (text.length <= limit) return [text];
  if (fence === null) return wrap(text, limit);
  const body = closes(lines.at(-1) ?? "", fence) ? lines.slice(1, -1) : lines.slice(1);
  const close = marksOf(fence);
  const room = limit - fence.length - close.length - 2;
  // A fence line longer than half a part is not treated as code.
  if (room < limit / 2) return wrap(text, limit);
  return wrapLines(body, room).map((piece) => `${fence}\n${piece}\n${close}`);
}

/** Splits code between its lines, and a line that is too long wherever a part is full. */
function wrapLines(lines: readonly string[], limit: number): string[] {
  const pieces: string[] = [];
  let piece: string | null = null;
  for (const line of lines.flatMap((long) => chop(long, limit))) {
    if (piece !== null && piece.length + 1 + line.length <= limit) {
      piece += `\n${line}`;
      continue;
    }
    if (piece !== null) pieces.push(piece);
    piece = line;
  }
  if (piece !== null) pieces.push(piece);
  return pieces.filter((text) => text.trim() !== "");
}

function chop(line: string, limit: number): string[] {
  const pieces: string[] = [];
  let from = 0;
  for (let end = 0; from < line.length || pieces.length === 0; from = end) {
    end = boundary(line, from + limit);
    pieces.push(line.slice(from, end));
  }
  return pieces;
}

/** Matches inline code and links, which must not be cut, since their marks would become visible. */
const whole = /`[^`\n]{1,1000}`|!?\[[^\][\n]{0,1000}\]\([^()\s]{0,2000}\)/g;

/** Positions where a text may be cut, the best kind first. */
const ends = [/\n/g, /[.!?…。！？]["'”’)]?\s/g, /\s/g];

/** Splits a text that is longer than a part, at the end of a line, else of a sentence, else of a word. */
function wrap(text: string, limit: number): string[] {
  const pieces: string[] = [];
  let from = 0;
  while (text.length - from > limit) {
    const end = cutAt(text, from, limit);
    pieces.push(text.slice(from, end).trimEnd());
    from = end + (/^\s*/.exec(text.slice(end, end + limit))?.[0].length ?? 0);
  }
  pieces.push(text.slice(from));
  return pieces.filter((piece) => piece.trim() !== "");
}

/** Where the part that begins at `from` ends. A part is at least half full, unless a link or code would be cut. */
function cutAt(text: string, from: number, limit: number): number {
  const room = text.slice(from, from + limit + 1);
  const spans = [...text.slice(from, from + 2 * limit).matchAll(whole)].map((found) => ({
    from: from + found.index,
    to: from + found.index + found[0].length,
  }));
  const inside = (at: number) => spans.find((span) => span.from < at && at < span.to);
  for (const end of ends) {
    const places = [...room.matchAll(end)].map(({ index, 0: found }) => from + index + found.trimEnd().length);
    const last = places.findLast((at) => at <= from + limit && at > from + limit / 2 && !inside(at));
    if (last !== undefined) return last;
  }
  const full = boundary(text, from + limit);
  const span = inside(full);
  return span && span.from > from ? span.from : full;
}

/** The last position up to `at` that does not cut a character in half. */
function boundary(text: string, at: number): number {
  return at < text.length && /[\uD800-\uDBFF]/.test(text.charAt(at - 1)) ? at - 1 : at;
}
