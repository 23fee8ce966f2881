import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Document, Operation, Schema } from "../../scripts/api-changes/document.ts";
import { compareDocuments } from "../../scripts/api-changes/operations.ts";

const json = (schema: Schema) => ({ "application/json": { schema } });
const ok: Operation["responses"] = { 200: { content: json({ type: "object" }) } };

/** A document with the operation `POST /tea`. */
const tea = (operation: Partial<Operation>, components: Document["components"] = {}): Document => ({
  paths: { "/tea": { post: { operationId: "makeTea", responses: ok, ...operation } } },
  components,
});

/** The changes as lines, those that break with a mark in front. */
const lines = (before: Document, after: Document) =>
  compareDocuments(before, after).map(({ breaking, text }) => `${breaking ? "! " : ""}${text}`);

const inBody = (schema: Schema) => tea({ requestBody: { required: true, content: json(schema) } });
const inAnswer = (schema: Schema) => tea({ responses: { 200: { content: json(schema) } } });
const field = (schema: Schema, required = false): Schema => ({
  type: "object",
  properties: { leaf: schema },
  ...(required ? { required: ["leaf"] } : {}),
});
const text = { type: "string" };
const one = (kind: string, more: Record<string, Schema> = {}): Schema => ({
  type: "object",
  properties: { kind: { type: "string", enum: [kind] }, ...more },
  required: ["kind"],
});

test("a document has no change against itself, whatever its texts and examples say", () => {
  const before = inBody({ ...field({ ...text, description: "Leaves.", example: "oolong" }), description: "Tea." });
  expect(lines(before, before)).toEqual([]);
  expect(lines(before, inBody({ ...field({ ...text, example: "assam", title: "Leaf", "x-order": 1 }) }))).toEqual([]);
});

describe("an operation", () => {
  const none: Document = { paths: {} };
  const ways = (...names: string[]) => tea({ security: names.map((name) => (name === "" ? {} : { [name]: [] })) });
  const query = (more: object = {}) => ({ name: "cups", in: "query", schema: { type: "integer" }, ...more });
  const asked = (...parameters: object[]) => tea({ parameters: parameters as never });
  const body = (required: boolean, type = "application/json") =>
    tea({ requestBody: { required, content: { [type]: { schema: text } } } });
  const answers = (responses: Operation["responses"]) => tea({ responses: { ...ok, ...responses } });
  const header = (more: object = {}) => answers({ 201: { headers: { Location: { schema: text, ...more } } } });
  const scheme = (more: object) => tea({}, { securitySchemes: { key: { type: "http", ...more } } });

  test.each<[string, Document, Document, string[]]>([
    ["is gone", tea({}), none, ["! POST /tea: is gone"]],
    ["is new", none, tea({}), ["POST /tea: is new"]],
    [
      "has another name in clients",
      tea({}),
      tea({ operationId: "brew" }),
      ["! POST /tea: operationId was makeTea, is brew"],
    ],
    ["is deprecated", tea({}), tea({ deprecated: true }), ["POST /tea: is deprecated"]],
    [
      "needs another permission",
      tea({ "x-permission": "tea:read" }),
      tea({ "x-permission": "tea:write" }),
      ["! POST /tea: needs the permission tea:write, it was tea:read"],
    ],
    [
      "needs a permission",
      tea({}),
      tea({ "x-permission": "tea:write" }),
      ["! POST /tea: needs the permission tea:write"],
    ],
    [
      "needs no permission any more",
      tea({ "x-permission": "tea:read" }),
      tea({}),
      ["POST /tea: needs no permission any more, it was tea:read"],
    ],
    [
      "is of the managed edition",
      tea({}),
      tea({ "x-feature": "knowledge" }),
      ["! POST /tea: belongs to the feature knowledge of the managed edition"],
    ],
    [
      "is of both editions",
      tea({ "x-feature": "knowledge" }),
      tea({}),
      ["POST /tea: belongs to both editions, it was of the feature knowledge"],
    ],
    [
      "is closed to who brings nothing",
      tea({}),
      ways("key"),
      ["! POST /tea: no longer takes nothing as credential", "POST /tea: takes key as credential"],
    ],
    [
      "is closed to a credential",
      ways("key", "cookie"),
      ways("key"),
      ["! POST /tea: no longer takes cookie as credential"],
    ],
    ["is open to one more credential", ways("key"), ways("key", "cookie"), ["POST /tea: takes cookie as credential"]],
    ["is open to all", ways("key"), ways("", "key"), ["POST /tea: takes nothing as credential"]],
    [
      "takes its credential in another way",
      scheme({ scheme: "bearer" }),
      scheme({ scheme: "basic" }),
      ['! key (credential): was {"type":"http","scheme":"bearer"}, is {"type":"http","scheme":"basic"}'],
    ],
    ["has lost a parameter", asked(query()), asked(), ["! POST /tea query cups: is gone"]],
    ["has a new parameter", asked(), asked(query()), ["POST /tea query cups: is new"]],
    [
      "has a new parameter that it needs",
      asked(),
      asked(query({ required: true })),
      ["! POST /tea query cups: is new and required"],
    ],
    [
      "needs a parameter",
      asked(query()),
      asked(query({ required: true })),
      ["! POST /tea query cups: is required now"],
    ],
    [
      "needs a parameter no more",
      asked(query({ required: true })),
      asked(query()),
      ["POST /tea query cups: is optional now"],
    ],
    [
      "has a narrower parameter",
      asked(query()),
      asked(query({ schema: { type: "integer", maximum: 3 } })),
      ["! POST /tea query cups: maximum is new: 3"],
    ],
    [
      "has a parameter elsewhere",
      asked(query()),
      asked(query({ in: "header" })),
      ["! POST /tea query cups: is gone", "POST /tea header cups: is new"],
    ],
    ["has lost its body", body(true), tea({}), ["! POST /tea body: is gone"]],
    ["has a body that it needs", tea({}), body(true), ["! POST /tea body: is new and required"]],
    ["has a body that it may do without", tea({}), body(false), ["POST /tea body: is new"]],
    ["needs its body", body(false), body(true), ["! POST /tea body: is required now"]],
    ["needs its body no more", body(true), body(false), ["POST /tea body: is optional now"]],
    [
      "has a body of another type",
      body(true),
      body(true, "text/plain"),
      ["! POST /tea body: is no longer application/json", "POST /tea body: may be text/plain"],
    ],
    ["has lost a status", answers({ 404: {} }), tea({}), ["! POST /tea 404: is gone"]],
    ["has a new status", tea({}), answers({ 404: {} }), ["POST /tea 404: is new"]],
    [
      "has an answer of another type",
      tea({}),
      tea({ responses: { 200: { content: { "text/xml": {} } } } }),
      ["! POST /tea 200: is no longer application/json", "POST /tea 200: may be text/xml"],
    ],
    ["has lost a header", header(), answers({ 201: {} }), ["! POST /tea 201 header Location: is gone"]],
    ["has a new header", answers({ 201: {} }), header(), ["POST /tea 201 header Location: is new"]],
    [
      "has a header that may be absent",
      header({ required: true }),
      header(),
      ["! POST /tea 201 header Location: is optional now"],
    ],
    [
      "has a header of another type",
      header(),
      header({ schema: { type: "integer" } }),
      ["! POST /tea 201 header Location: may be integer now", "POST /tea 201 header Location: may no longer be string"],
    ],
  ])("%s", (_name, before, after, expected) => {
    expect(lines(before, after)).toEqual(expected);
  });
});

describe("a field counts by its direction", () => {
  /** The lines without their place, for a body and for an answer. */
  test.each<[string, Schema, Schema, request: string[], answer: string[]]>([
    ["gone", field(text), { type: "object" }, ["! .leaf: is gone"], ["! .leaf: is gone"]],
    ["new", { type: "object" }, field(text), [".leaf: is new"], [".leaf: is new"]],
    ["new and required", { type: "object" }, field(text, true), ["! .leaf: is new and required"], [".leaf: is new"]],
    ["required", field(text), field(text, true), ["! .leaf: is required now"], [".leaf: is required now"]],
    ["optional", field(text, true), field(text), [".leaf: is optional now"], ["! .leaf: is optional now"]],
    [
      "of another type",
      field(text),
      field({ type: "integer" }),
      ["! .leaf: may no longer be string", ".leaf: may be integer now"],
      ["! .leaf: may be integer now", ".leaf: may no longer be string"],
    ],
    [
      "null too",
      field(text),
      field({ type: ["string", "null"] }),
      [".leaf: may be null now"],
      ["! .leaf: may be null now"],
    ],
    [
      "never null",
      field({ type: ["string", "null"] }),
      field(text),
      ["! .leaf: may no longer be null"],
      [".leaf: may no longer be null"],
    ],
    [
      "a whole number",
      field({ type: "number" }),
      field({ type: "integer" }),
      ["! .leaf: may no longer be number"],
      [".leaf: may no longer be number"],
    ],
    [
      "any number",
      field({ type: "integer" }),
      field({ type: "number" }),
      [".leaf: may be number now"],
      ["! .leaf: may be number now"],
    ],
    ["anything", field(text), field({}), [".leaf: may be any value now"], ["! .leaf: may be any value now"]],
    [
      "something",
      field({}),
      field(text),
      ["! .leaf: may no longer be any value"],
      [".leaf: may no longer be any value"],
    ],
    [
      "of fewer values",
      field({ ...text, enum: ["black", "green"] }),
      field({ ...text, enum: ["black"] }),
      ['! .leaf: may no longer be "green"'],
      ['! .leaf: may no longer be "green"'],
    ],
    [
      "of more values",
      field({ ...text, enum: ["black"] }),
      field({ ...text, enum: ["black", "green"] }),
      ['.leaf: may be "green" now'],
      ['.leaf: may be "green" now'],
    ],
    [
      "of some values",
      field(text),
      field({ ...text, const: "black" }),
      ['! .leaf: may only be "black" now'],
      ['.leaf: may only be "black" now'],
    ],
    [
      "of any value of its type",
      field({ ...text, enum: ["black"] }),
      field(text),
      ['.leaf: may be other values than "black" now'],
      ['.leaf: may be other values than "black" now'],
    ],
    [
      "bounded more tightly",
      field({ ...text, minLength: 1, maxLength: 9 }),
      field({ ...text, minLength: 2, maxLength: 8 }),
      ["! .leaf: minLength was 1, is 2", "! .leaf: maxLength was 9, is 8"],
      [".leaf: minLength was 1, is 2", ".leaf: maxLength was 9, is 8"],
    ],
    [
      "bounded less",
      field({ type: "integer", minimum: 0, maximum: 9 }),
      field({ type: "integer", maximum: 10 }),
      [".leaf: minimum is gone: 0", ".leaf: maximum was 9, is 10"],
      [".leaf: minimum is gone: 0", ".leaf: maximum was 9, is 10"],
    ],
    [
      "of a format",
      field(text),
      field({ ...text, format: "uuid" }),
      ['! .leaf: format is new: "uuid"'],
      ['.leaf: format is new: "uuid"'],
    ],
    [
      "of no format",
      field({ ...text, format: "uuid" }),
      field(text),
      ['.leaf: format is gone: "uuid"'],
      ['! .leaf: format is gone: "uuid"'],
    ],
    [
      "of another pattern",
      field({ ...text, pattern: "a" }),
      field({ ...text, pattern: "b" }),
      ['! .leaf: pattern was "a", is "b"'],
      ['.leaf: pattern was "a", is "b"'],
    ],
    [
      "of another default",
      field({ ...text, default: "a" }),
      field({ ...text, default: "b" }),
      ['! .leaf: default was "a", is "b"'],
      ['.leaf: default was "a", is "b"'],
    ],
    [
      "of a default",
      field(text),
      field({ ...text, default: "b" }),
      ['.leaf: default is new: "b"'],
      ['.leaf: default is new: "b"'],
    ],
    [
      "under a rule that nobody thought of",
      field({ type: "array" }),
      field({ type: "array", uniqueItems: true }),
      ["! .leaf: uniqueItems is new: true"],
      ["! .leaf: uniqueItems is new: true"],
    ],
    [
      "of other items",
      field({ type: "array", items: text }),
      field({ type: "array", items: { type: ["string", "null"] } }),
      [".leaf[]: may be null now"],
      ["! .leaf[]: may be null now"],
    ],
    [
      "of items that are not said any more",
      field({ type: "array", items: text }),
      field({ type: "array" }),
      [".leaf[]: may be any value now"],
      ["! .leaf[]: may be any value now"],
    ],
  ])("%s", (_name, before, after, request, answer) => {
    const bare = (found: string[], place: string) => found.map((line) => line.replace(place, ""));
    expect(bare(lines(inBody(before), inBody(after)), "POST /tea body")).toEqual(request);
    expect(bare(lines(inAnswer(before), inAnswer(after)), "POST /tea 200")).toEqual(answer);
  });
});

describe("fields without names", () => {
  const rest = (additionalProperties: unknown): Schema => ({ type: "object", additionalProperties });
  test.each<[string, unknown, unknown, request: string[], answer: string[]]>([
    ["refused", undefined, false, ["! .*: is refused now"], []],
    ["refused no more", false, {}, [], []],
    ["checked", {}, text, ["! .*: is checked now"], []],
    ["checked no more", text, undefined, [], ["! .*: is gone"]],
    ["of another type", text, { type: ["string", "null"] }, [".*: may be null now"], ["! .*: may be null now"]],
  ])("%s", (_name, before, after, request, answer) => {
    const [was, is] = [rest(before), rest(after)];
    expect(lines(inBody(was), inBody(is)).map((line) => line.replace("POST /tea body", ""))).toEqual(request);
    expect(lines(inAnswer(was), inAnswer(is)).map((line) => line.replace("POST /tea 200", ""))).toEqual(answer);
  });
});

describe("forms", () => {
  const forms = (...oneOf: Schema[]): Schema => ({ oneOf });
  const [leaf, bag, can] = [one("leaf"), one("bag"), one("can")];

  test.each<[string, Schema, Schema, request: string[], answer: string[]]>([
    ["in another order", forms(leaf, bag), forms(bag, leaf), [], []],
    [
      "one more that its field tells",
      forms(leaf, bag),
      forms(leaf, bag, can),
      ["POST /tea body: may have the form { kind: can }"],
      ["POST /tea 200: may have the form { kind: can }"],
    ],
    [
      "one more that nothing tells",
      forms(leaf, bag),
      forms(leaf, bag, { type: "object" }),
      ["POST /tea body: may have the form object"],
      ["! POST /tea 200: may have the form object"],
    ],
    [
      "a second one",
      leaf,
      forms(leaf, bag),
      ["POST /tea body: may have the form { kind: bag }"],
      ["POST /tea 200: may have the form { kind: bag }"],
    ],
    [
      "one less",
      forms(leaf, bag),
      leaf,
      ["! POST /tea body: no longer has the form { kind: bag }"],
      ["! POST /tea 200: no longer has the form { kind: bag }"],
    ],
    [
      "a field of one",
      forms(one("leaf", { size: text }), bag),
      forms(leaf, bag),
      ["! POST /tea body.size: is gone"],
      ["! POST /tea 200.size: is gone"],
    ],
    [
      "null too",
      forms(leaf, bag),
      forms(leaf, bag, { type: "null" }),
      ["POST /tea body: may be null now"],
      ["! POST /tea 200: may be null now"],
    ],
    [
      "null too, of one",
      leaf,
      { anyOf: [leaf, { type: "null" }] },
      ["POST /tea body: may be null now"],
      ["! POST /tea 200: may be null now"],
    ],
    [
      "a number too",
      { anyOf: [text, { type: "boolean" }] },
      { anyOf: [text, { type: "boolean" }, { type: "number" }] },
      ["POST /tea body: may have the form number"],
      ["! POST /tea 200: may have the form number"],
    ],
    [
      "told apart by another field",
      { oneOf: [leaf, bag], discriminator: { propertyName: "kind" } },
      { oneOf: [leaf, bag], discriminator: { propertyName: "type" } },
      ["! POST /tea body: is told apart by type, and was by kind"],
      ["! POST /tea 200: is told apart by type, and was by kind"],
    ],
  ])("%s", (_name, before, after, request, answer) => {
    expect(lines(inBody(before), inBody(after))).toEqual(request);
    expect(lines(inAnswer(before), inAnswer(after))).toEqual(answer);
  });
});

describe("schemas with names", () => {
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  const named = (schemas: Record<string, Schema>): Document => {
    const both = tea(
      { requestBody: { content: json(ref("Cup")) }, responses: { 200: { content: json(ref("Cup")) } } },
      { schemas },
    );
    return { ...both, paths: { ...both.paths, "/cup": { get: both.paths["/tea"]?.post as Operation } } };
  };

  test("a change that many operations share is reported once for each direction", () => {
    expect(lines(named({ Cup: field(text, true) }), named({ Cup: field(text) }))).toEqual([
      "! Cup.leaf (in answers): is optional now",
      "Cup.leaf (in requests): is optional now",
    ]);
  });

  test("a schema that contains itself has an end", () => {
    const cup = (more: Schema) => ({ type: "object", properties: { next: ref("Cup"), size: more } });
    expect(lines(named({ Cup: cup(text) }), named({ Cup: cup({ ...text, maxLength: 3 }) }))).toEqual([
      "! Cup.size (in requests): maxLength is new: 3",
      "Cup.size (in answers): maxLength is new: 3",
    ]);
  });

  test("the parts of one count as one", () => {
    const whole = { type: "object", properties: { leaf: text, size: text }, required: ["leaf", "size"] };
    const parts = { allOf: [ref("Leaf"), { type: "object", properties: { size: text }, required: ["size"] }] };
    const Leaf = field(text, true);
    expect(lines(named({ Leaf, Cup: whole }), named({ Leaf, Cup: parts }))).toEqual([]);
    expect(lines(named({ Leaf, Cup: parts }), named({ Leaf: field(text), Cup: parts }))).toEqual([
      "! Cup.leaf (in answers): is optional now",
      "Cup.leaf (in requests): is optional now",
    ]);
  });

  test("one is null only where each of its parts may be", () => {
    const Leaf = field(text);
    const Cup = (leaf: Schema) => named({ Leaf, Cup: field(leaf) });
    const partly = Cup({ allOf: [ref("Leaf"), { type: ["object", "null"] }] });
    expect(lines(partly, Cup({ allOf: [ref("Leaf")] }))).toEqual([]);
    expect(lines(partly, Cup({ anyOf: [ref("Leaf"), { type: "null" }] }))).toEqual([
      "! Cup.leaf (in answers): may be null now",
      "Cup.leaf (in requests): may be null now",
    ]);
  });

  test("a removed name removes a type of the client", () => {
    const before = named({ Cup: field(text), Saucer: field(text) });
    expect(lines(before, named({ Cup: field(text) }))).toEqual(["! Saucer: no schema has that name any more"]);
  });

  test("a missing schema is an error, and not an empty one", () => {
    expect(() => lines(named({ Cup: field(text) }), named({}))).toThrow("The document has no schema Cup");
  });
});

describe("the interface of this release", () => {
  const current = () => JSON.parse(readFileSync(new URL("../../openapi/openapi.json", import.meta.url), "utf8"));
  const changed = (change: (document: ReturnType<typeof current>) => void) => {
    const after = current();
    change(after);
    return lines(current(), after);
  };

  test("has no change against itself, whatever its schemas' descriptions say", () => {
    expect(changed(() => {})).toEqual([]);
    const described = changed(({ components }) => {
      for (const schema of Object.values<Record<string, unknown>>(components.schemas)) schema.description = "Other.";
    });
    expect(described).toEqual([]);
  });

  test("a breaking change is found among others", () => {
    const found = changed(({ paths, components }) => {
      delete paths["/api/instances/{slug}"].delete;
      paths["/api/instances"].post["x-permission"] = "agent:read";
      delete components.schemas.Instance.properties.slug;
      components.schemas.NewAgent.required.push("model");
    });
    expect(found.sort()).toEqual([
      "! DELETE /api/instances/{slug}: is gone",
      "! Instance.slug (in answers): is gone",
      "! NewAgent.model (in requests): is required now",
      "! POST /api/instances: needs the permission agent:read, it was agent:write",
    ]);
  });
});
