import { Lexer, type Token, type Tokenizer } from "marked";
import { BoundedTokenizer, blockRules, inlinePieces, readInline } from "./bounds.ts";

/**
 * Reads a model's Markdown in GitHub's flavour. Also reads bold and struck text next to Chinese, Japanese and Korean
 * punctuation. Definitions that no link uses are text, since they may be the whole reply. The time is linear, even for
 * hostile text, which is read within limits. Never throws.
 */
export function readMarkdown(text: string): Token[] {
  const tokenizer = new DefinitionTokenizer();
  const jointed = text.replaceAll(jointPlaces, joint);
  const lexer = new Lexer({ gfm: true, tokenizer });
  tokenizer.rules.block = blockRules;
  lexer.blockTokens(jointed.replaceAll(/\r\n?/g, "\n"), lexer.tokens);
  for (const { src, tokens } of lexer.inlineQueue) {
    lexer.state.inRawBlock = false;
    for (const piece of inlinePieces(src)) readInline(lexer, piece, tokens);
  }
  const read = withDefinitions(lexer.tokens, tokenizer.used);
  if (jointed !== text) removeJoints(read);
  return read;
}

/** Matches the addresses that a definition may have. */
const address = /^(https?:\/\/|mailto:|tel:)/i;

/** Reads a definition only with an allowed address, and only one for each label; notes the addresses that links use. */
class DefinitionTokenizer extends BoundedTokenizer {
  readonly used = new Set<string>();

  override def(source: string) {
    const token = super.def(source);
    return token && address.test(token.href) && !(token.tag in this.lexer.tokens.links) ? token : undefined;
  }

  override reflink(...source: Parameters<Tokenizer["reflink"]>) {
    const token = super.reflink(...source);
    if (token?.type === "link" || token?.type === "image") this.used.add(token.href);
    return token;
  }
}

/** The blocks, in which neighbouring definitions that no link uses have become a paragraph. */
function withDefinitions(tokens: readonly Token[], used: ReadonlySet<string>): Token[] {
  const read: Token[] = [];
  let unused: string[] = [];
  const endUnused = () => {
    if (unused.length > 0) read.push(paragraphOf(unused.join("\n")));
    unused = [];
  };
  for (const token of tokens) {
    if (token.type === "def" && !used.has(token.href)) {
      unused.push(token.raw.trim());
      continue;
    }
    endUnused();
    const inner = token.type === "list" ? token.items : token.type === "blockquote" ? [token] : [];
    for (const block of inner) block.tokens = withDefinitions(block.tokens ?? [], used);
    read.push(token);
  }
  endUnused();
  return read;
}

/** Read by a separate lexer without definitions, in which a definition's label is no link. */
const paragraphOf = (text: string): Token => ({
  type: "paragraph",
  raw: text,
  text,
  tokens: new Lexer({ gfm: true }).inlineTokens(text),
});

// CommonMark decides by spaces and punctuation whether ** begins or ends bold text. Chinese, Japanese and Korean have
// no spaces there, so in **重要：**请 the second ** would end nothing. While a text is read, a joint, which counts as a
// letter, separates such marks from punctuation beside them. Single marks get no joints, since they may mean a
// multiplication.

/** A character that occurs in no text, and is neither space nor punctuation. */
const joint = "\ufdd0";

const cjk = String.raw`[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}\u3000-\u303f\uff00-\uffef]`;
const punctuation = String.raw`(?![*~_\\])[\p{P}\p{S}]`;
const marks = String.raw`(?:\*{2,}|~~)`;

/** Positions between marks and punctuation beside which there is Chinese, Japanese or Korean text. */
const jointPlaces = new RegExp(
  [
    `(?<=(?=${cjk})${punctuation})(?=${marks})`,
    `(?<=${punctuation})(?=${marks}${cjk})`,
    // The next character is tested first, since it is just one.
    `(?=(?=${cjk})${punctuation})(?<=${marks})`,
    `(?=${punctuation})(?<=${cjk}${marks})`,
  ].join("|"),
  "gu",
);

/** Removes the joints, which were inserted for the lexer, from every string of the tokens. */
function removeJoints(tokens: object): void {
  for (const [key, value] of Object.entries(tokens)) {
    if (typeof value === "string") Object.assign(tokens, { [key]: value.replaceAll(joint, "") });
    else if (typeof value === "object" && value !== null) removeJoints(value);
  }
}
