import fc from "fast-check";
import { expect, test } from "vitest";
import { clipJson, shorten } from "../../../src/core/text/clip-json.ts";

test("a text within the limit stays; a longer one says how much it had", () => {
  expect(shorten("tea", 3)).toBe("tea");
  expect(shorten("tea time", 3)).toBe("tea… (5 more characters)");
  expect(shorten("a😀b", 2).isWellFormed()).toBe(true);
});

test("a value within the limit stays as it is", () => {
  const value = { a: [1, "two", null, { b: true }], c: {}, ["k".repeat(300)]: 1 };
  expect(clipJson(value, 1_000)).toEqual(value);
});

test("values that do not fit are left out, with a mark in their place", () => {
  expect(clipJson(["a".repeat(10), "b".repeat(10)], 14)).toEqual([
    "a… (9 more characters)".replace("a…", "aaaaaaaa…").replace("9", "2"),
    "…",
  ]);
  expect(clipJson({ a: 1, b: "x".repeat(50), c: 3 }, 30)).toEqual({
    a: 1,
    b: expect.stringMatching(/^x+… /),
    "…": "…",
  });
  expect(clipJson({ ["k".repeat(50)]: 1, b: 2 }, 30)).toEqual({
    [`${"k".repeat(24)}… (26 more characters)`]: 1,
    "…": "…",
  });
});

test("a value of any size becomes a value of about the limit", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 0, max: 400 }), (value, limit) => {
      const clipped = JSON.stringify(clipJson(value as never, limit));
      // A key and a mark may come on top.
      expect(clipped.length).toBeLessThanOrEqual(Math.max(JSON.stringify(value).length, 6 * limit + 400));
    }),
  );
});
