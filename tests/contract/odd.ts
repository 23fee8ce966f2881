import fc from "fast-check";
import { type Document, resolve, type Schema } from "./document.ts";

/** JSON text that is sent unchanged: some of it no `JSON.stringify` writes. */
class Raw {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Tree = Raw | string | number | boolean | null | Tree[] | Map<string, Tree>;

const strings = [
  ...["", " ", "\u0000", "a\u0000b", "\ud800", "a\udfff", "\u2028", "\ufeff", "👩‍👩‍👧", "\u202eabc", "x".repeat(300)],
  ...["x".repeat(70_000), "__proto__", "constructor", "toString", "null", "undefined", "NaN", "true", "0", "-1", "1e9"],
  ...["'; drop table agents; --", "{1,2}", '{"a"}', "%", "\\", "$1", "{{x}}", "*", "../../etc/passwd", "a:b:c"],
  ...["owner", "2026-02-30", "1970-01-01T00:00:00Z", "infinity", "+275760-09-13T00:00:00.001Z", "0000-00-00", "now"],
  ...[
    "http://[::1",
    "javascript:alert(1)",
    "data:,",
    "https://localhost:99999",
    "a@b",
    "@",
    "••••1234",
    "<b>",
    "\r\nX: y",
  ],
];

const texts = [
  ...["null", "true", "false", "0", "-0", "-1", "1.5", "1e308", "1e999", "-1e999", "2147483648", "9007199254740993"],
  ...["[]", "{}", "[[]]", "[null]", '{"a":{"b":{"c":1}}}', '{"__proto__":{"owner":true}}', '{"length":1e9}'],
  ...['{"constructor":{"prototype":{"x":1}}}', '{"":""}', '{"\\u0000":"x"}', '{"\\ud800":"x"}', '{"toString":1}'],
  "[".repeat(900) + "]".repeat(900),
  `${'{"a":'.repeat(900)}1${"}".repeat(900)}`,
  `[${"0,".repeat(5_000)}0]`,
  `{${Array.from({ length: 1_000 }, (_, index) => `"k${index}":${index}`).join()}}`,
];

const oddTree: fc.Arbitrary<Tree> = fc.oneof(
  fc.constantFrom(...strings),
  fc.constantFrom(...texts).map((text) => new Raw(text)),
  fc.json({ maxDepth: 3 }).map((text) => new Raw(text)),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.double(),
);

/** Any text, for URLs, query strings and headers. */
export const oddText = fc.oneof(fc.constantFrom(...strings), fc.string({ unit: "binary", maxLength: 30 }));

/** Values that a schema allows, and some just outside. */
function fitting(document: Document, given: Schema): Tree[] {
  const { enum: choices = [], minimum, maximum, maxLength, items, anyOf = [], type } = resolve(document, given);
  const numbers = [minimum, maximum].flatMap((limit) => (limit === undefined ? [] : [limit - 1, limit, limit + 1]));
  const longest =
    maxLength === undefined || maxLength > 100_000 ? [] : ["é".repeat(maxLength), "x".repeat(maxLength + 1)];
  const kinds = [type].flat();
  return [
    ...choices.filter((one) => typeof one === "string"),
    ...numbers,
    ...longest,
    ...(kinds.includes("boolean") ? [true, false] : []),
    ...(items ? fitting(document, items).map((one) => [one]) : []),
    ...anyOf.flatMap((one) => fitting(document, one)),
    null,
  ];
}

/** The properties that a schema names, in all its parts. */
function propertiesOf(document: Document, given: Schema | undefined): Record<string, Schema> {
  const { properties = {}, allOf = [], anyOf = [], oneOf = [], items } = resolve(document, given);
  const parts = [...allOf, ...anyOf, ...oneOf, ...(items ? [items] : [])].map((one) => propertiesOf(document, one));
  return Object.assign({}, ...parts, properties) as Record<string, Schema>;
}

export function toTree(value: unknown): Tree {
  if (Array.isArray(value)) return value.map(toTree);
  if (value === null || typeof value !== "object") return value as Tree;
  return new Map(Object.entries(value).map(([key, member]) => [key, toTree(member)]));
}

/** Objects keep all their keys, `__proto__` too. */
export function serialise(tree: Tree): string {
  if (tree instanceof Raw) return tree.text;
  if (Array.isArray(tree)) return `[${tree.map(serialise).join()}]`;
  if (!(tree instanceof Map)) return JSON.stringify(tree);
  return `{${[...tree].map(([key, member]) => `${JSON.stringify(key)}:${serialise(member)}`).join()}}`;
}

/** Every object of a tree, with the properties that its schema names. */
export function objectsOf(document: Document, tree: Tree, schema: Schema | undefined): [Map<string, Tree>, string[]][] {
  if (Array.isArray(tree)) {
    return tree.flatMap((one) => objectsOf(document, one, resolve(document, schema).items ?? schema));
  }
  if (!(tree instanceof Map)) return [];
  const properties = propertiesOf(document, schema);
  const inner = [...tree].flatMap(([key, member]) => objectsOf(document, member, properties[key]));
  return [[tree, Object.keys(properties)], ...inner];
}

interface Mutation {
  at: number;
  which: number;
  known: boolean;
  value: Tree;
  fit: number | null;
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(),
  which: fc.nat(),
  known: fc.boolean(),
  value: oddTree,
  fit: fc.option(fc.nat()),
});

/** Bodies close to some valid ones: fields of the schema and of `columns` added or replaced by odd values. */
export function oddBody(
  document: Document,
  good: readonly unknown[],
  schema: Schema | undefined,
  columns: readonly string[],
) {
  const mutations = fc.array(mutation, { minLength: 1, maxLength: 6 });
  const near = fc.tuple(fc.nat(), mutations).map(([first, changes]) => {
    const tree = toTree(pick(good, first) ?? {});
    for (const { at, which, known, value, fit } of changes) {
      const objects = objectsOf(document, tree, schema);
      const [object, names] = pick(objects, at) ?? [];
      const key = pick(known ? [...(names ?? []), ...(object?.keys() ?? [])] : columns, which) ?? "__proto__";
      const fits = fit === null ? [] : fitting(document, propertiesOf(document, schema)[key] ?? {});
      object?.set(key, pick(fits, fit ?? 0) ?? value);
    }
    return serialise(tree);
  });
  return fc.oneof({ weight: 9, arbitrary: near }, { weight: 1, arbitrary: oddTree.map(serialise) });
}

function pick<T>(list: readonly T[], index: number): T | undefined {
  return list.length === 0 ? undefined : list[index % list.length];
}
