import type { MarkedToken, Token, Tokens } from "marked";
import { readMarkdown } from "../../markdown/read.ts";

/** A messenger's syntax for each kind of markup. The functions get rendered texts, except `text`, `code` and `pre`. */
export interface Markup {
  /** Plain text. */
  text(text: string): string;
  strong(inner: string): string;
  emphasis(inner: string): string;
  deleted(inner: string): string;
  code(text: string): string;
  /** A block of code, with its language or an empty one. */
  pre(text: string, language: string): string;
  link(label: string, address: string): string;
  /** A quote; it never contains another one. */
  quote(inner: string): string;
  /** Whether the messenger shows marks in a link's label. */
  marksLabels: boolean;
  /** Separates a mark from a letter beside it, where the messenger would otherwise not recognise the mark. */
  joint: string;
}

/** Repeats marks on each line, for marks that can't span lines, and keeps spaces outside of the marks. */
export const markLines = (mark: string, text: string) =>
  text
    .split("\n")
    .map((line) => {
      const inner = line.trim();
      return inner === "" ? line : line.replace(inner, () => mark + inner + mark);
    })
    .join("\n");

/** Replaces backticks inside code, since code between single backticks can't escape them. */
export const withoutBackticks = (code: string) => code.replaceAll("`", "ˋ");

/**
 * Renders Markdown for a messenger. Headings become bold lines, lists get bullets or numbers, tables become aligned
 * text, pictures become links. HTML is shown as text.
 */
export function render(markdown: string, markup: Markup): string {
  /** The marks around the current position. A mark inside the same mark would end it. */
  const around = new Set<string>();
  const within = (mark: string, wrap: (inner: string) => string, inner: () => string): string => {
    if (around.has(mark)) return inner();
    around.add(mark);
    const text = inner();
    around.delete(mark);
    return wrap(text);
  };

  const blocks = (tokens: readonly Token[], between: string): string =>
    tokens
      .map((token) => block(token as MarkedToken))
      .filter((text) => text !== "")
      .join(between);

  const block = (token: MarkedToken): string => {
    switch (token.type) {
      case "heading":
        return within("strong", markup.strong, () => inline(token.tokens));
      case "paragraph":
        return inline(token.tokens);
      case "text":
        return token.tokens ? inline(token.tokens) : markup.text(token.text);
      case "code":
        return markup.pre(token.text, token.lang?.split(/\s/)[0] ?? "");
      case "blockquote":
        return around.has("quote")
          ? blocks(token.tokens, "\n").replaceAll(/^/gm, markup.text("> "))
          : within("quote", markup.quote, () => blocks(token.tokens, "\n"));
      case "list":
        return list(token);
      case "table":
        return markup.pre(columns(token), "");
      case "hr":
        return "———";
      case "html":
        return markup.text(token.raw.trim());
      case "space":
      case "checkbox":
      case "def":
        return "";
      default:
        return markup.text(token.raw.trim());
    }
  };

  const list = ({ items, ordered, start }: Tokens.List): string =>
    items
      .map(({ tokens, task, checked }, index) => {
        const mark = checked ? "☑ " : "☐ ";
        const bullet = ordered ? `${Number(start) + index}. ` : "• ";
        const content = tokens.map((token) => {
          const text = block(token as MarkedToken);
          return token.type === "list" ? text.replaceAll(/^/gm, "   ") : text;
        });
        return (task ? mark : bullet) + content.filter((text) => text !== "").join("\n");
      })
      .join("\n");

  const inline = (tokens: readonly Token[]): string => {
    const spans = tokens.map((token) => span(token as MarkedToken));
    if (markup.joint === "") return spans.join("");
    return spans.reduce((text, next, index) => {
      const isMark = marks.has(tokens[index]?.type ?? "") || marks.has(tokens[index - 1]?.type ?? "");
      const touches = isMark && /[^\s!-)+-/:-@[-^{-}]$/.test(text) && /^[^\s!-)+-/:-@[-^{-}]/.test(next);
      return text + (touches ? markup.joint : "") + next;
    }, "");
  };

  const span = (token: MarkedToken): string => {
    switch (token.type) {
      case "text":
        return token.tokens ? inline(token.tokens) : markup.text(unescaped(token.text));
      case "escape":
        return markup.text(token.text);
      case "strong":
        return within("strong", markup.strong, () => inline(token.tokens));
      case "em":
        return within("emphasis", markup.emphasis, () => inline(token.tokens));
      case "del":
        return within("deleted", markup.deleted, () => inline(token.tokens));
      case "codespan":
        return markup.code(token.text);
      case "link":
        return anchor(markup.marksLabels ? inline(token.tokens) : markup.text(plain(token.tokens)), token.href);
      case "image":
        return anchor(markup.text(token.text || token.href), token.href);
      case "br":
        return "\n";
      case "html":
        return lineBreak.test(token.raw) ? "\n" : markup.text(token.raw);
      case "checkbox":
        return "";
      default:
        return markup.text(token.raw);
    }
  };

  /** A link with another scheme stays text: no messenger opens it, and a model could write a `javascript:` link. */
  const anchor = (label: string, address: string): string => {
    if (!/^(https?:\/\/|mailto:|tel:)/i.test(address)) return label;
    return label === markup.text(address) || label === markup.text(address.replace(/^mailto:/i, ""))
      ? label
      : markup.link(label, address);
  };

  return blocks(readMarkdown(markdown), "\n\n");
}

const marks: ReadonlySet<string> = new Set(["strong", "em", "del", "codespan"]);

/** The only HTML that models write on purpose. */
const lineBreak = /^<br\s*\/?>$/i;

/** The text of tokens, without marks. */
const plain = (tokens: readonly Token[]): string =>
  tokens
    .map((token) => {
      if ("tokens" in token && token.tokens) return plain(token.tokens);
      if (token.type === "br" || (token.type === "html" && lineBreak.test(token.raw))) return " ";
      return token.type === "text" ? unescaped(token.text) : "text" in token ? String(token.text) : token.raw;
    })
    .join("");

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: "\u00a0" };

const unescaped = (text: string) =>
  text.replaceAll(/&(?:(amp|lt|gt|quot|nbsp)|#(\d{1,7})|#x([0-9a-f]{1,6}));/gi, (entity, name, decimal, hex) => {
    if (name) return entities[String(name).toLowerCase()] ?? entity;
    const code = decimal ? Number(decimal) : Number.parseInt(hex, 16);
    const isCharacter = code >= 0x20 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : entity;
  });

/** Aligns the cells in columns. Returns the table's source when one wide cell would widen all rows. */
function columns({ header, rows, raw }: Tokens.Table): string {
  const cells = [header, ...rows].map((row) => row.map(({ tokens }) => plain(tokens)));
  const widths = header.map((_, column) => Math.max(...cells.map((row) => [...(row[column] ?? "")].length)));
  const padded = (cell: string, column: number) => cell + " ".repeat((widths[column] ?? 0) - [...cell].length);
  const text = cells.map((row) => row.map(padded).join("  ").trimEnd()).join("\n");
  return text.length <= 2 * raw.length ? text : raw.trim();
}
