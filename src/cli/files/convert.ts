import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair } from "yaml";

/** Thrown when a document contains something that a file of agents can't contain. */
export class ConversionError extends Error {
  readonly offset: number;

  constructor(message: string, node: Node | null | undefined) {
    super(message);
    this.offset = node?.range?.[0] ?? 0;
  }
}

const mostAliases = 100;
const mostValues = 200_000;
const deepest = 64;

interface Walk {
  document: Document.Parsed;
  aliases: number;
  values: number;
  /** The nodes with anchors that contain the current one: an alias inside must not refer to them. */
  around: Node[];
}

/** Converts a document to a JSON value. Throws a `ConversionError`. */
export function jsonOf(document: Document.Parsed): unknown {
  return convert(document.contents, { document, aliases: 0, values: 0, around: [] });
}

function convert(node: Node | null, walk: Walk): unknown {
  walk.values += 1;
  if (walk.values > mostValues) throw new ConversionError("Aliases make too many values of this document", node);
  if (walk.around.length > deepest) throw new ConversionError(`This nests more than ${deepest} levels deep`, node);
  if (node === null) return null;
  if (isAlias(node)) return convert(resolve(node, walk), walk);
  if (isScalar(node)) return plain(node.value, node);
  walk.around.push(node);
  try {
    if (isSeq<Node>(node)) return node.items.map((item) => convert(item, walk));
    if (isMap<Node, Node | null>(node)) return fieldsOf(node.items, walk);
  } finally {
    walk.around.pop();
  }
  throw new ConversionError("This is neither a text, a number, a list nor fields", node);
}

/** The node to which an alias refers; other nodes are returned unchanged. */
export function resolveAlias(node: Node | null, document: Document.Parsed): Node | null {
  return isAlias(node) ? (node.resolve(document) ?? null) : node;
}

function resolve(alias: Node, walk: Walk): Node {
  walk.aliases += 1;
  if (walk.aliases > mostAliases) throw new ConversionError(`There are more than ${mostAliases} aliases`, alias);
  const target = resolveAlias(alias, walk.document);
  if (target === null) throw new ConversionError("No anchor before this has the name of the alias", alias);
  if (walk.around.includes(target)) throw new ConversionError("This alias stands for what contains it", alias);
  return target;
}

function fieldsOf(pairs: readonly Pair<Node, Node | null>[], walk: Walk): Record<string, unknown> {
  const seen = new Set<string>();
  const entries = pairs.map(({ key, value }) => {
    const name = keyOf(key);
    if (name === null) throw new ConversionError("The name of a field must be a text", key);
    if (seen.has(name)) throw new ConversionError(`The field \`${name}\` is there twice`, key);
    seen.add(name);
    return [name, convert(value, walk)] as const;
  });
  return Object.fromEntries(entries);
}

/** The name of a field; null when the key is a list or a map. A number keeps its spelling. */
export function keyOf(key: Node | null): string | null {
  if (!isScalar(key)) return null;
  return typeof key.value === "string" ? key.value : (key.source ?? String(key.value));
}

function plain(value: unknown, node: Node): string | number | boolean | null {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new ConversionError("This is neither a text, a finite number, true, false nor null", node);
}
