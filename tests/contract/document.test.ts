import { STATUS_CODES } from "node:http";
import { dereference, type Schema, validate } from "@cfworker/json-schema";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { roles } from "../../src/core/credentials/permissions.ts";
import { harness, managedEdition } from "../harness.ts";
import {
  type Document,
  type Schema as DocumentSchema,
  filled,
  isGuarded,
  methods,
  readDocument,
  resolve,
} from "./document.ts";

async function operations() {
  const h = await harness();
  return { h, ...(await readDocument(h)) };
}

test("the document is valid OpenAPI 3.1, version 0.1.0", async () => {
  const { document } = await operations();
  expect(document).toMatchObject({ openapi: "3.1.0", info: { version: "0.1.0" } });
  const { valid, errors } = await new Validator().validate(structuredClone(document));
  expect(errors ?? []).toEqual([]);
  expect(valid).toBe(true);
});

test("every operation is named, described, tagged with a known tag, and says what a 200 or 201 is", async () => {
  const { document, list } = await operations();
  const tags = document.tags.map(({ name }) => name);
  const ids = list.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { operation, name } of list) {
    expect(operation.operationId, name).toMatch(/^[a-z][A-Za-z]+$/);
    expect(operation.summary, name).toBeTruthy();
    expect(operation.description, name).toBeTruthy();
    expect(tags, name).toContain(operation.tags?.[0]);
    expect(
      Object.keys(operation.responses).some((status) => /^20[01]$/.test(status)),
      name,
    ).toBe(true);
  }
});

test("a sign-in says how a request names one of several organizations", async () => {
  const { securitySchemes } = (await operations()).document.components;
  for (const name of ["sessionCookie", "sessionBearer"]) {
    expect(securitySchemes[name]?.description).toContain("`X-Organization`");
  }
});

test("a file may be of any type", async () => {
  const { list } = await operations();
  const files = list.filter(({ path }) => /^(\/api)?\/files\/\{id\}$/.test(path));
  expect(files).toHaveLength(2);
  for (const { operation } of files) expect(operation.responses[200]).toMatchObject({ content: { "*/*": {} } });
});

test("every guarded route documents what it refuses with, and a permission that there is", async () => {
  const { list } = await operations();
  const guarded = list.filter(isGuarded);
  expect(guarded.length).toBeGreaterThan(40);
  for (const { operation, name } of guarded) {
    for (const status of ["401", "403", "404"]) expect(Object.keys(operation.responses), name).toContain(status);
    const permission = operation["x-permission"];
    if (permission) expect([...roles.owner], name).toContain(permission);
  }
});

test("every operation documents that the server may be starting or the database away", async () => {
  const { list } = await operations();
  const silent = list.filter(({ operation }) => !("503" in operation.responses));
  expect(silent.map(({ name }) => name)).toEqual([]);
});

test("every error answer has an example of its own status", async () => {
  const { list } = await operations();
  for (const { operation, name } of list) {
    for (const [status, answer] of Object.entries(operation.responses)) {
      if (!JSON.stringify(answer).includes('"#/components/schemas/Error"')) continue;
      const example = { statusCode: Number(status), error: STATUS_CODES[status] };
      expect(answer, `${name} ${status}`).toMatchObject({ content: { "application/json": { example } } });
    }
  }
});

test("a method that a path does not have is a 405 that names those it has", async () => {
  // The open edition lacks methods of the document: editions.test.ts.
  const h = await harness({ edition: managedEdition });
  const { document } = await readDocument(h);
  for (const [path, item] of Object.entries(document.paths)) {
    const response = await h.request(filled(path), { method: "PROPFIND" });
    expect(response.status, path).toBe(405);
    const allowed = response.headers.get("Allow")?.split(", ") ?? [];
    for (const method of methods) if (item[method]) expect(allowed, path).toContain(method.toUpperCase());
  }
});

/** A part of the document, be it an object or a list. */
type Tree = { [key: string]: Tree };

/** A schema with its example. */
interface Shown {
  where: string;
  schema: Schema;
  example: unknown;
}

/** The examples of a part of the document, each with its schema from the same part without examples. */
function examplesIn(part: Tree, bare: Tree, where = ""): Shown[] {
  // A parameter and an answer have theirs next to the schema.
  const own = "example" in part ? [{ where, schema: bare.schema ?? bare, example: part.example }] : [];
  const below = Object.keys(bare).filter((key) => typeof bare[key] === "object" && bare[key] !== null);
  return [...own, ...below.flatMap((key) => examplesIn(part[key] ?? {}, bare[key] ?? {}, `${where}/${key}`))];
}

test("every example is what its own schema allows", async () => {
  const { document } = await operations();
  // An example may have fields that are keywords in a schema, such as `id`.
  const bare = JSON.parse(JSON.stringify(document, (key, value) => (key === "example" ? undefined : value)));
  const lookup = dereference(bare);
  const shown = examplesIn(document as unknown as Tree, bare);
  expect(shown.length).toBeGreaterThan(200);
  const wrong = shown.filter(({ schema, example }) => !validate(example, schema, "2020-12", lookup).valid);
  expect(wrong.map(({ where, example }) => [where, example])).toEqual([]);
});

/** The parts of a schema that must all hold, if one of them allows null. */
function nullableParts(part: Tree): Tree[] {
  const below = Object.values(part).filter((one) => typeof one === "object" && one !== null);
  const own = Object.values(part.allOf ?? {});
  return [...(own.some(allowsNull) ? own : []), ...below.flatMap(nullableParts)];
}

const allowsNull = ({ type }: { type?: unknown }) => [type].flat().includes("null");

test("every nullable value is nullable in each part of its schema", async () => {
  const { document } = await operations();
  const parts = nullableParts(document as unknown as Tree);
  expect(parts.filter((part) => !allowsNull(resolve(document, part as DocumentSchema)))).toEqual([]);
});

/** The request of a reader who changes nothing: the examples of a schema. */
function exampleOf(document: Document, schema: DocumentSchema): unknown {
  const { example, type, items, properties = {} } = resolve(document, schema);
  if (example !== undefined) return example;
  if (type === "boolean") return true;
  if (items) return [exampleOf(document, items)];
  return Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, exampleOf(document, one)]));
}

test("examples of bodies that hold a format of their own are such that the server takes them", async () => {
  const { h, document } = await operations();
  const { slug, headers } = await h.agent();
  const agent = `/api/instances/${slug}`;
  const skills = `/api/organizations/${h.organization.slug}/skills`;
  const taken = async (method: string, path: string, declared: string) => {
    const content = document.paths[declared]?.[method.toLowerCase()]?.requestBody?.content["application/json"];
    if (!content?.schema) throw new Error(`${method} ${declared} takes no JSON`);
    const bodies = Object.entries(content.examples ?? {}).map(([type, { value }]) => ({
      to: `${path}/${type}`,
      value,
    }));
    if (bodies.length === 0) bodies.push({ to: path, value: exampleOf(document, content.schema) });
    for (const { to, value } of bodies) {
      const answer = await h.request(to, { method, headers, json: value });
      expect([answer.ok, to, answer.ok || (await answer.json())]).toEqual([true, to, true]);
    }
  };
  await taken("POST", skills, "/api/organizations/{orgSlug}/skills");
  await taken("PUT", `${skills}/refunds`, "/api/organizations/{orgSlug}/skills/{name}");
  await taken("PUT", `${agent}/icon`, "/api/instances/{slug}/icon");
  await taken("PUT", `${agent}/secrets`, "/api/instances/{slug}/secrets");
  await taken("PUT", `${agent}/channels`, "/api/instances/{slug}/channels/{type}");
});
