import { expect, test } from "vitest";
import { scrubJson } from "../../../src/core/scrub/json.ts";
import { scrubber } from "../../../src/core/scrub/scrub.ts";

const scrub = scrubber(["4711081500", 'a "quoted" secret', '"},{"']);

test("only what holds a secret is changed", () => {
  const value = {
    order: { id: 47_110_815_001, price: -3.5, ids: [4_711_081_500, 7, null, true] },
    "key 4711081500": 'so a "quoted" secret',
    rest: [{ a: "b" }, { c: "d" }],
  };
  expect(scrubJson(value, scrub)).toEqual({
    order: { id: "[secret]1", price: -3.5, ids: ["[secret]", 7, null, true] },
    "key [secret]": "so [secret]",
    rest: [{ a: "b" }, { c: "d" }],
  });
});

test("a value without a secret is the value itself", () => {
  const value = { deep: [{ text: "nothing", number: Number.NaN, none: null }] };
  expect(scrubJson(value, scrub)).toBe(value);
  const half = { clean: { a: ["b"] }, dirty: "4711081500" };
  expect((scrubJson(half, scrub) as typeof half).clean).toBe(half.clean);
});

test("a member named like the prototype stays a member", () => {
  const value = JSON.parse('{"__proto__": {"x": "4711081500"}}') as object;
  expect(JSON.stringify(scrubJson(value, scrub))).toBe('{"__proto__":{"x":"[secret]"}}');
});

test("an object with toJSON is scrubbed as that returns it, and a value JSON can't hold is refused", () => {
  expect(scrubJson({ at: new URL("http://host/4711081500") }, scrub)).toEqual({ at: "http://host/[secret]" });
  expect(() => scrubJson({ big: 1n }, scrub)).toThrow("big integer");
});
