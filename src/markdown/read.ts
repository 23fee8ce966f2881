import { Lexer, type Token, type Tokenizer } from "marked";
import { BoundedTokenizer, inlinePieces, readInline } from "./bounds.ts";

/**
 * Reads the Markdown of a model, in GitHub's flavour. Bold and struck text is seen beside the punctuation of Chinese,
 * Japanese and Korean too. Definitions that no link uses are text: they may be all that a model says. The
 * time grows with the length, also for text that is made to take long: such is read within bounds, and never throws.
 */
export function readMarkdown(text: string): Token[] {
  const tokenizer = new DefinitionTokenizer();
  const jointed = text.replaceAll(jointPlaces, joint);
  const lexer = new Lexer({ gfm: true, tokenizer });
  lexer.blockTokens(jointed.replaceAll(/\r\n?/g, "\n"), lexer.tokens);
  for (const { src, tokens } of lexer.inlineQueue) {
    lexer.state.inRawBlock = false;
    for (const piece of inlinePieces(src)) readInline(lexer, piece, tokens);
  }
  const read = withDefinitions(lexer.tokens, tokenizer.used);
  if (jointed !== text) removeJoints(read);
  return read;
}

/** The addresses that a definition may lead to. */
const address = /^(https?:\/\/|mailto:|tel:)/i;

/** Takes only what leads somewhere for a definition, once for a label, and notes the addresses that links take from them. */
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

/** The blocks, with a paragraph in place of neighbouring definitions that no link uses. */
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

/** Read by a lexer of its own, which knows no definitions: the label of one is no link here. */
const paragraphOf = (text: string): Token => ({
  ...{ type: "paragraph", raw: text, text },
  tokens: new Lexer({ gfm: true }).inlineTokens(text),
});

// CommonMark tells by blanks and punctuation whether ** begins or ends bold text. Chinese, Japanese and Korean set no
// blanks there, so that in **重要：**请 the second ** would end nothing. A joint, which counts as a letter, parts marks
// from the punctuation beside them while a text is read. Single marks stay as they are: they also multiply.

/** A character that no text has, and that is neither blank nor punctuation. */
const joint = "\ufdd0";

const cjk = String.raw`[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}\u3000-\u303f\uff00-\uffef]`;
const punctuation = String.raw`(?![*~_\\])[\p{P}\p{S}]`;
const marks = String.raw`(?:\*{2,}|~~)`;

/** Between marks and punctuation, if that or what is on the other side of the marks is Chinese, Japanese or Korean. */
const jointPlaces = new RegExp(
  [
    `(?<=(?=${cjk})${punctuation})(?=${marks})`,
    `(?<=${punctuation})(?=${marks}${cjk})`,
    // The next character is looked at first, since it is a single one.
    `(?=(?=${cjk})${punctuation})(?<=${marks})`,
    `(?=${punctuation})(?<=${cjk}${marks})`,
  ].join("|"),
  "gu",
);

/** Takes the joints out of all texts of the tokens. */
function removeJoints(tokens: object): void {
  for (const [key, value] of Object.entries(tokens)) {
    if (typeof value === "string") Object.assign(tokens, { [key]: value.replaceAll(joint, "") });
    else if (typeof value === "object" && value !== null) removeJoints(value);
  }
}
