import { expect, test } from "vitest";
import { itemsIn, textOf, withChanges } from "../../src/panel/data/lists.ts";

test.each([
  ["stop, halt", ["stop", "halt"]],
  [" stop ,, please stop,", ["stop", "please stop"]],
  [" , ", []],
])("the items in %j", (text, items) => {
  expect(itemsIn(text, ",")).toEqual(items);
  // What was typed stays, with its commas and spaces.
  expect(textOf(items, text, ",")).toBe(text);
});

test("items that are not those of the text take its place", () => {
  expect(textOf(["stop", "halt"], "", ",")).toBe("stop, halt");
  expect(textOf(["stop"], "stop, halt", ",")).toBe("stop");
  expect(textOf(["a.example", "b.example"], "a.example", "\n")).toBe("a.example\nb.example");
  expect(itemsIn("a.example\n\n b.example\n", "\n")).toEqual(["a.example", "b.example"]);
});

test("what somebody added or took away leaves what others did meanwhile", () => {
  expect(withChanges(["a", "b", "c"], ["a", "b"], ["a", "d"])).toEqual(["a", "c", "d"]);
  expect(withChanges(["b"], ["a", "b"], ["a", "b", "c"])).toEqual(["b", "c"]);
  expect(withChanges(["a", "b"], ["a"], ["a", "b"])).toEqual(["a", "b"]);
});
