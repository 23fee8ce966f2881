import type { Target } from "../pdf/page.ts";
import type { Picture } from "../pdf/picture.ts";

// A document's content, whatever its syntax was.

export type Block =
  | { kind: "heading"; level: number; spans: Span[] }
  | { kind: "paragraph"; spans: Span[] }
  | { kind: "code"; text: string }
  | { kind: "quote"; blocks: Block[] }
  | { kind: "list"; loose: boolean; items: ListItem[] }
  | { kind: "table"; columns: Alignment[]; header: Span[][]; rows: Span[][][] }
  | { kind: "rule" };

export interface ListItem {
  /** The marker before the item. */
  marker: string;
  blocks: Block[];
}

export type Alignment = "left" | "center" | "right";

/** A piece of running text. */
export type Span =
  | { kind: "text"; text: string; emphasis: Emphasis }
  | { kind: "break" }
  | { kind: "picture"; picture: Picture; alt: string; target: Target | null };

export interface Emphasis {
  bold: boolean;
  italic: boolean;
  code: boolean;
  struck: boolean;
  raised: "above" | "below" | null;
  target: Target | null;
}

export const plain: Emphasis = { bold: false, italic: false, code: false, struck: false, raised: null, target: null };

export const textOf = (spans: readonly Span[]): string =>
  spans.map((span) => (span.kind === "text" ? span.text : span.kind === "picture" ? span.alt : " ")).join("");
