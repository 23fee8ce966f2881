import {
  CST,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  parseAllDocuments,
  type Document as YamlDocument,
} from "yaml";
import { ConversionError, jsonOf, keyOf, resolveAlias } from "./convert.ts";
import type { Path, Problem } from "./problem.ts";

/** One document of a file. */
export interface FileDocument {
  /** The file's name in messages. */
  file: string;
  value: unknown;
  /** The position of the value at a path, or of the nearest existing value around it. */
  placeOf(path: Path): string;
  /** The spelling of a number, such as `1.0`; undefined for any other value. */
  writtenNumber(path: Path): string | undefined;
}

/** Splits the text of a YAML or JSON file into its documents; empty ones are left out. */
export function readDocuments(file: string, text: string): { documents: FileDocument[]; problems: Problem[] } {
  const lines = new LineCounter();
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${Math.max(line, 1)}:${Math.max(col, 1)}`;
  };
  const limit = limitProblem(text);
  if (limit) {
    lineStarts(text, lines);
    return { documents: [], problems: [{ place: at(limit.offset), message: `The file ${limit.message}` }] };
  }
  const parsed = parse(text, lines);
  if (parsed === null) return { documents: [], problems: [{ place: file, message: "The file nests too deeply" }] };
  const problems: Problem[] = [];
  const documents: FileDocument[] = [];
  for (const document of parsed) {
    // A warning is an unknown tag, whose value would not be what its author meant.
    const wrong = [...document.errors, ...document.warnings];
    problems.push(...wrong.map(({ pos, message }) => ({ place: at(pos[0]), message: firstLine(message) })));
    if (wrong.length > 0) continue;
    try {
      const value = jsonOf(document);
      if (value !== null) documents.push(describe(file, document, value, at));
    } catch (error) {
      if (!(error instanceof ConversionError)) throw error;
      problems.push({ place: at(error.offset), message: error.message });
    }
  }
  return { documents, problems };
}

function parse(text: string, lineCounter: LineCounter): YamlDocument.Parsed[] | null {
  try {
    // `uniqueKeys` would compare each key with all others. The conversion finds repeated keys in one pass.
    const options = { lineCounter, prettyErrors: false, uniqueKeys: false, schema: "core", strict: true } as const;
    return [...parseAllDocuments(text, options)] as YamlDocument.Parsed[];
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Records the start of each line, as the parser would. */
function lineStarts(text: string, lines: LineCounter): void {
  lines.addNewLine(0);
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", end + 1)) lines.addNewLine(end + 1);
}

function describe(
  file: string,
  document: YamlDocument.Parsed,
  value: unknown,
  at: (offset: number) => string,
): FileDocument {
  const fields: Fields = new Map();
  return {
    file,
    value,
    placeOf: (path) => at(find(document, path, fields).offset),
    writtenNumber(path) {
      const { node, whole } = find(document, path, fields);
      return whole && isScalar(node) && typeof node.value === "number" ? node.source : undefined;
    },
  };
}

/** The fields of maps by name. Each map is indexed once, since a file may have problems with many thousand fields. */
type Fields = Map<Node, ReadonlyMap<string | null, Pair<Node, Node | null>>>;

/** The node at a path; `whole` is false when the path goes beyond the existing values. */
function find(
  document: YamlDocument.Parsed,
  path: Path,
  fields: Fields,
): { node: Node | null; offset: number; whole: boolean } {
  let node: Node | null = document.contents;
  let offset = node?.range?.[0] ?? 0;
  for (const part of path) {
    const inner = step(resolveAlias(node, document), part, fields);
    if (!inner) return { node, offset, whole: false };
    node = inner.value;
    offset = inner.offset;
  }
  return { node: resolveAlias(node, document), offset, whole: true };
}

function step(node: Node | null, part: string | number, fields: Fields): { value: Node | null; offset: number } | null {
  if (isMap<Node, Node | null>(node)) {
    const known = fields.get(node) ?? new Map(node.items.map((pair) => [keyOf(pair.key), pair]));
    fields.set(node, known);
    const pair = known.get(String(part));
    return pair ? { value: pair.value, offset: pair.key.range?.[0] ?? 0 } : null;
  }
  const item = isSeq<Node>(node) ? node.items[Number(part)] : undefined;
  return item ? { value: item, offset: item.range?.[0] ?? 0 } : null;
}

function firstLine(message: string): string {
  // For too deep nesting, the parser reports an exhausted call stack.
  if (/call stack/.test(message)) return "This nests too deeply";
  return message.split("\n")[0] ?? message;
}

/** Far more than agents need: some 70,000 lines. */
const mostTokens = 500_000;

/** The deepest nesting of lists and maps, in one line or between brackets. */
const deepest = 64;

/**
 * Why a text is refused without parsing: the parser's time and memory grow with the nesting and the number of values,
 * which the lexer counts at low cost. Null for a text that may be parsed.
 */
function limitProblem(text: string): { offset: number; message: string } | null {
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
