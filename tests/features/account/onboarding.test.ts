import { expect, test } from "vitest";
import { mergeOnboarding } from "../../../src/features/account/me.ts";
import { type Harness, harness } from "../../harness.ts";
import { createUser, openSession } from "./people.ts";

const patch = (h: Harness, headers: Record<string, string>, init: { json?: unknown; body?: string }) =>
  h.request("/api/me/onboarding", {
    method: "PATCH",
    headers: { "Content-Type": "application/json", ...headers },
    ...init,
  });

/** A user with a session; `read` answers the stored `onboarding`. */
async function someone() {
  const h = await harness();
  const headers = await openSession(h, (await createUser(h, "ada@example.com")).id);
  const read = async () => (await (await h.request("/api/me", { headers })).json()).user.onboarding;
  return { h, headers, read };
}

/** An object with one key whose JSON has this many bytes. */
const ofBytes = (bytes: number, character = "x") => {
  const length = (bytes - '{"a":""}'.length) / new TextEncoder().encode(character).length;
  return { a: character.repeat(length) };
};

test("merging sets, keeps and removes, and counts the bytes of the result", () => {
  expect(mergeOnboarding({ a: 1, b: true }, { b: null, c: "x", gone: null })).toEqual({ a: 1, c: "x" });
  expect(mergeOnboarding({}, ofBytes(8192))).toEqual(ofBytes(8192));
  expect(() => mergeOnboarding({}, ofBytes(8193))).toThrow("onboarding: must be at most 8192 bytes");
  expect(() => mergeOnboarding({}, ofBytes(8194, "é"))).toThrow("onboarding");
  expect(mergeOnboarding(ofBytes(8192), { a: null, b: 0 })).toEqual({ b: 0 });
  expect(() => mergeOnboarding(ofBytes(8192), { b: 0 })).toThrow("onboarding");
});

test("a change is merged, and the answer is that of GET /api/me", async () => {
  const { h, headers, read } = await someone();
  await patch(h, headers, { json: { tourSeen: true, step: 1.5, name: "Ada", hint: "x" } });
  const response = await patch(h, headers, { json: { step: 2, hint: null, never: null, "": "" } });
  expect(response.status).toBe(200);
  const me = await h.request("/api/me", { headers });
  expect(await response.text()).toBe(await me.text());
  expect(await read()).toEqual({ tourSeen: true, step: 2, name: "Ada", "": "" });
});

test("changes at the same time all count", async () => {
  const { h, headers, read } = await someone();
  const keys = Array.from({ length: 12 }, (_, index) => `key${index}`);
  const answers = await Promise.all(keys.map((key) => patch(h, headers, { json: { [key]: 1 } })));
  expect(answers.map(({ status }) => status)).toEqual(keys.map(() => 200));
  expect(Object.keys(await read()).sort()).toEqual(keys.sort());
});

test("no key reaches a prototype", async () => {
  const { h, headers, read } = await someone();
  const response = await patch(h, headers, {
    body: '{"__proto__": true, "constructor": "c", "prototype": 1, "toString": null, "hasOwnProperty": false}',
  });
  expect(response.status).toBe(200);
  expect(await read()).toEqual({ constructor: "c", prototype: 1, hasOwnProperty: false });
  expect((await patch(h, headers, { body: '{"__proto__": {"polluted": true}}' })).status).toBe(200);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect(await read()).toEqual({ constructor: "c", prototype: 1, hasOwnProperty: false });
});

test.each([
  ['{"a":{"b":1}}', "a"],
  ['{"a":[1]}', "a"],
  ['{"a":1,"b":{}}', "b"],
  ['{"a":1e999}', "a"],
  ['{"a":"\\u0000"}', "a"],
  ['{"a":"\\ud800"}', "a"],
  ['{"a\\u0000":1}', "a\u0000"],
  ["[]", ""],
  ["null", ""],
  ['"text"', ""],
])("%s is a 400", async (body, path) => {
  const { h, headers, read } = await someone();
  const response = await patch(h, headers, { body });
  expect(response.status).toBe(400);
  expect((await response.json()).issues).toMatchObject([{ path }]);
  expect(await read()).toEqual({});
});

test("too much of it is a 413 and changes nothing: one value, many keys, or a little every time", async () => {
  const { h, headers, read } = await someone();
  expect((await patch(h, headers, { json: ofBytes(8192) })).status).toBe(200);
  const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`k${index}`, 0]));
  for (const json of [{ a: "x".repeat(20_000) }, many, { b: 1 }]) {
    const response = await patch(h, headers, { json });
    expect(response.status).toBe(413);
    expect((await response.json()).message).toContain("onboarding: must be at most 8192 bytes");
  }
  expect(await read()).toEqual(ofBytes(8192));
  expect((await patch(h, headers, { json: { a: null, b: 1 } })).status).toBe(200);
});
