import { Lexer, type MarkedToken, type Token, type Tokens } from "marked";

/** Text in which no messenger finds tags or mentions; Telegram's and Slack's rule are the same. */
export const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** How a messenger writes each kind of markup. All texts they get are rendered already, but for `text`, `code` and `pre`. */
export interface Markup {
  /** Plain text. */
  text(text: string): string;
  strong(inner: string): string;
  emphasis(inner: string): string;
  deleted(inner: string): string;
  code(text: string): string;
  /** A block of code, in a language or none. */
  pre(text: string, language: string): string;
  link(label: string, address: string): string;
  quote(inner: string): string;
}

/**
 * Renders Markdown for a messenger. Headings become strong lines, lists get bullets or numbers, tables become text with
 * columns, pictures links. HTML is shown as text. Throws for Markdown that nests too deeply; keep texts below some 4,000
 * characters, since the time grows with the square of the length for text that is made for that.
 */
export function render(markdown: string, markup: Markup): string {
  const blocks = (tokens: readonly Token[], between: string): string =>
    tokens
      .map((token) => block(token as MarkedToken))
      .filter((text) => text !== "")
      .join(between);

  const block = (token: MarkedToken): string => {
    switch (token.type) {
      case "heading":
        return markup.strong(inline(withoutStrong(token.tokens)));
      case "paragraph":
        return inline(token.tokens);
      case "text":
        return token.tokens ? inline(token.tokens) : markup.text(token.text);
      case "code":
        return markup.pre(token.text, token.lang?.split(/\s/)[0] ?? "");
      case "blockquote":
        return markup.quote(blocks(token.tokens, "\n"));
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

  const inline = (tokens: readonly Token[]): string => tokens.map((token) => span(token as MarkedToken)).join("");

  const span = (token: MarkedToken): string => {
    switch (token.type) {
      case "text":
        return token.tokens ? inline(token.tokens) : markup.text(unescaped(token.text));
      case "escape":
        return markup.text(token.text);
      case "strong":
        return markup.strong(inline(token.tokens));
      case "em":
        return markup.emphasis(inline(token.tokens));
      case "del":
        return markup.deleted(inline(token.tokens));
      case "codespan":
        return markup.code(token.text);
      case "link":
        return anchor(inline(token.tokens), token.href);
      case "image":
        return anchor(markup.text(token.text || token.href), token.href);
      case "br":
        return "\n";
      case "checkbox":
        return "";
      default:
        return markup.text(token.raw);
    }
  };

  /** An address that no messenger opens stays text, so that a model can't make a `javascript:` link. */
  const anchor = (label: string, address: string): string => {
    if (!/^(https?:\/\/|mailto:|tel:)/i.test(address)) return label;
    return label === markup.text(address) || label === markup.text(address.replace(/^mailto:/i, ""))
      ? label
      : markup.link(label, address);
  };

  return blocks(new Lexer({ gfm: true }).lex(markdown), "\n\n");
}

/** A heading is strong as a whole: marks within it would end that. */
const withoutStrong = (tokens: readonly Token[]): Token[] =>
  tokens.flatMap((token) => (token.type === "strong" ? ((token as Tokens.Strong).tokens ?? []) : [token]));

const entities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  "#39": "'",
  nbsp: "\u00a0",
};

const unescaped = (text: string) =>
  text.replaceAll(/&(amp|lt|gt|quot|#39|nbsp);/g, (entity, name: string) => entities[name] ?? entity);

/** The cells under each other; the table as it was written where one wide cell would stretch all rows. */
function columns({ header, rows, raw }: Tokens.Table): string {
  const cells = [header, ...rows].map((row) => row.map(({ text }) => text));
  const widths = header.map((_, column) => Math.max(...cells.map((row) => [...(row[column] ?? "")].length)));
  const padded = (cell: string, column: number) => cell + " ".repeat((widths[column] ?? 0) - [...cell].length);
  const text = cells.map((row) => row.map(padded).join("  ").trimEnd()).join("\n");
  return text.length <= 2 * raw.length ? text : raw.trim();
}
