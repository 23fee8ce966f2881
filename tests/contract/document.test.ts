import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { roles } from "../../src/core/permissions.ts";
import { harness } from "../harness.ts";

interface Operation {
  operationId?: string;
  tags?: string[];
  summary?: string;
  description?: string;
  security?: Record<string, string[]>[];
  responses: Record<string, unknown>;
  parameters?: { name: string; in: string; description?: string; example?: unknown; schema?: { example?: unknown } }[];
  "x-permission"?: string;
}

const methods = ["get", "post", "put", "patch", "delete"] as const;

async function operations() {
  const h = await harness();
  const document = (await (await h.request("/openapi.json")).json()) as {
    tags: { name: string }[];
    paths: Record<string, Record<string, Operation>>;
  };
  const list = Object.entries(document.paths).flatMap(([path, item]) =>
    methods.flatMap((method) =>
      item[method] ? [{ path, method, operation: item[method], name: `${method} ${path}` }] : [],
    ),
  );
  return { h, document, list };
}

const filled = (path: string) => path.replaceAll(/\{[^}]+\}/g, "x");

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

test("every guarded route refuses who brings nothing, and documents what it refuses with", async () => {
  const { h, list } = await operations();
  const guarded = list.filter(({ operation }) => operation.security?.some((scheme) => "sessionBearer" in scheme));
  expect(guarded.length).toBeGreaterThan(15);
  for (const { path, method, operation, name } of guarded) {
    const response = await h.request(filled(path), { method: method.toUpperCase() });
    expect(response.status, name).toBe(401);
    expect(await response.json(), name).toMatchObject({
      statusCode: 401,
      message: expect.any(String),
      error: "Unauthorized",
    });
    for (const status of ["401", "403"]) expect(Object.keys(operation.responses), name).toContain(status);
    const permission = operation["x-permission"];
    if (permission) expect([...roles.owner], name).toContain(permission);
  }
});

test("a method that a path does not have is a 405 that names those it has", async () => {
  const { h, document } = await operations();
  for (const [path, item] of Object.entries(document.paths)) {
    const response = await h.request(filled(path), { method: "PROPFIND" });
    expect(response.status, path).toBe(405);
    const allowed = response.headers.get("Allow")?.split(", ") ?? [];
    for (const method of methods) if (item[method]) expect(allowed, path).toContain(method.toUpperCase());
  }
});
