import { expect, test } from "vitest";
import { wordsIn } from "../../src/panel/data/text.ts";

test("every word is looked for, in any case, any order and over all texts", () => {
  const has = wordsIn("  Desk help ");
  expect(has("Help at the desk")).toBe(true);
  expect(has("help", "DESK-2")).toBe(true);
  expect(has("Help")).toBe(false);
  expect(wordsIn("")("anything")).toBe(true);
  expect(wordsIn("a.c")("abc")).toBe(false);
});
