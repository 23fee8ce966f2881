import { expect, test } from "vitest";
import { itemsIn, textOf } from "../../src/panel/data/text.ts";

test.each([
  ["stop, halt", ["stop", "halt"]],
  [" stop ,, please stop,", ["stop", "please stop"]],
  [" , ", []],
])("the items in %j", (text, items) => {
  expect(itemsIn(text, ",")).toEqual(items);
  // The typed text stays, with its commas and spaces.
  expect(textOf(items, text, ",")).toBe(text);
});

test("items that are not in the text replace it", () => {
  expect(textOf(["stop", "halt"], "", ",")).toBe("stop, halt");
  expect(textOf(["stop"], "stop, halt", ",")).toBe("stop");
  expect(textOf(["a.example", "b.example"], "a.example", "\n")).toBe("a.example\nb.example");
  expect(itemsIn("a.example\n\n b.example\n", "\n")).toEqual(["a.example", "b.example"]);
});
