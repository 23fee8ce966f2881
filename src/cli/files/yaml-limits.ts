import { CST, Lexer } from "yaml";

/** Far more than agents need: some 70,000 lines. */
const mostTokens = 500_000;

/** The deepest nesting of lists and maps, in one line or between brackets. */
const deepest = 64;

/**
 * Why a text is refused unparsed: the parser's time and memory grow with the nesting and the number of values, which
 * the lexer counts cheaply. Null for a text that may be parsed.
 */
export function limitProblem(text: string): { offset: number; message: string } | null {
  let [offset, tokens, brackets, inLine] = [0, 0, 0, 0];
  let isText = false;
  for (const token of new Lexer().lex(text)) {
    const type: string | null = isText ? "scalar-text" : CST.tokenType(token);
    isText = type === "scalar";
    tokens += 1;
    if (type === "newline") inLine = 0;
    if (type === "seq-item-ind" || type === "explicit-key-ind") inLine += 1;
    if (type === "flow-seq-start" || type === "flow-map-start") brackets += 1;
    if (type === "flow-seq-end" || type === "flow-map-end") brackets -= 1;
    if (brackets > deepest || inLine > deepest) return { offset, message: `nests more than ${deepest} levels deep` };
    if (tokens > mostTokens) return { offset, message: "holds too many values for one file: split it" };
    if (token !== CST.DOCUMENT && token !== CST.FLOW_END && token !== CST.SCALAR) offset += token.length;
  }
  return null;
}
