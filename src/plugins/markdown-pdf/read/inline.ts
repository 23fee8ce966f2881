import { decodeHTMLStrict } from "entities/decode";
import type { MarkedToken, Token, Tokens } from "marked";
import type { Pace } from "../pace.ts";
import type { Target } from "../pdf/page.ts";
import type { Picture } from "../pdf/picture.ts";
import { type Emphasis, plain, type Span } from "./blocks.ts";

/** Loads the picture at an address; null when it can't be shown. */
export type Pictures = (address: string) => Promise<Picture | null>;

/** Converts the lexer's inline tokens to running text. */
export async function spansOf(tokens: readonly Token[], pictures: Pictures, pace: Pace): Promise<Span[]> {
  const spans: Span[] = [];
  await read(tokens, plain, { spans, pictures, pace, tags: [] });
  return spans;
}

interface InlineReader {
  spans: Span[];
  pictures: Pictures;
  pace: Pace;
  /** The open HTML elements. */
  tags: string[];
}

async function read(tokens: readonly Token[], outer: Emphasis, reading: InlineReader): Promise<void> {
  for (const token of tokens as readonly MarkedToken[]) {
    const emphasis = withTags(outer, reading.tags);
    const inside = (changes: Partial<Emphasis>, { tokens: inner = [] }: { tokens?: Token[] | undefined }) =>
      read(inner, { ...outer, ...changes }, reading);
    if (token.type === "strong") await inside({ bold: true }, token);
    else if (token.type === "em") await inside({ italic: true }, token);
    else if (token.type === "del") await inside({ struck: true }, token);
    else if (token.type === "link") await inside({ target: targetOf(token) ?? outer.target }, token);
    else if (token.type === "image") await readImage(token, emphasis, reading);
    else if (token.type === "br") reading.spans.push({ kind: "break" });
    else if (token.type === "html") readTag(token.text, reading);
    else if (token.type === "codespan") add(reading, token.text, { ...emphasis, code: true });
    else if (token.type === "escape") add(reading, token.text, emphasis);
    else if (token.type === "text") {
      if (token.tokens) await inside({}, token);
      else add(reading, decodeHTMLStrict(token.text), emphasis);
    }
    await reading.pace.breathe();
  }
}

const add = ({ spans }: InlineReader, text: string, emphasis: Emphasis) => spans.push({ kind: "text", text, emphasis });

/** Reads an image. One that can't be shown becomes a link with the image's description. */
async function readImage({ href, text }: Tokens.Image, emphasis: Emphasis, reading: InlineReader): Promise<void> {
  const picture = await reading.pictures(href);
  const alt = decodeHTMLStrict(text);
  if (picture) reading.spans.push({ kind: "picture", picture, alt, target: emphasis.target });
  else add(reading, alt || shortened(href), { ...emphasis, target: emphasis.target ?? targetOf({ href }) });
}

const shortened = (address: string) =>
  address.startsWith("data:") || address.length > longestAddress ? "[image]" : address;

const longestAddress = 2_000;

/** The target of a link; null for an address that runs code, or that has no meaning outside its original page. */
function targetOf({ href }: { href: string }): Target | null {
  if (href.length > longestAddress) return null;
  const address = decodeHTMLStrict(href);
  if (address.startsWith("#")) return { anchor: decoded(address.slice(1)).toLowerCase() };
  return /^(?:https?:\/\/|mailto:|tel:)/i.test(address) ? { address } : null;
}

function decoded(anchor: string): string {
  try {
    return decodeURIComponent(anchor);
  } catch {
    return anchor;
  }
}

const meanings: Readonly<Record<string, Partial<Emphasis>>> = {
  b: { bold: true },
  strong: { bold: true },
  i: { italic: true },
  em: { italic: true },
  s: { struck: true },
  del: { struck: true },
  strike: { struck: true },
  code: { code: true },
  kbd: { code: true },
  samp: { code: true },
  sup: { raised: "above" },
  sub: { raised: "below" },
};

const withTags = (emphasis: Emphasis, tags: readonly string[]): Emphasis =>
  Object.assign({ ...emphasis }, ...tags.map((tag) => meanings[tag]));

/** Reads a few HTML tags as styles of text. Removes other tags, but keeps their text. */
function readTag(html: string, { spans, tags }: InlineReader): void {
  const [, closing, name = ""] = /^<(\/?)([a-z][a-z0-9]*)/i.exec(html) ?? [];
  const tag = name.toLowerCase();
  if (tag === "br") spans.push({ kind: "break" });
  else if (closing) {
    const open = tags.lastIndexOf(tag);
    if (open >= 0) tags.splice(open);
  } else if (Object.hasOwn(meanings, tag) && tags.length < 20) tags.push(tag);
}
