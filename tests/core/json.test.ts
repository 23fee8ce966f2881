import fc from "fast-check";
import { expect, test } from "vitest";
import { isDeeperThan, isObject, jsonExcess, parseJson } from "../../src/core/json.ts";

test("JSON is read as ever, unless it is nested too deeply", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(6), (value, levels) => {
      const text = JSON.stringify(value);
      if (isDeeperThan(value, levels)) expect(() => parseJson(text, levels)).toThrow(SyntaxError);
      else expect(parseJson(text, levels)).toEqual(JSON.parse(text));
    }),
  );
});

test.each(['"[[[["', '{"a[":"]{\\"["}', '["\\\\","["]'])("brackets in strings don't count: %s", (text) => {
  expect(parseJson(text, 1)).toEqual(JSON.parse(text));
});

test.each([
  "[".repeat(1_000_000),
  '{"a":'.repeat(200_000),
  '"[',
  '["\\',
  "]]",
])("what is no JSON is an error", (text) => {
  expect(() => parseJson(text, 200)).toThrow(SyntaxError);
});

test("a text says how it exceeds its limits", () => {
  const limits = { levels: 3, values: 5 };
  expect(jsonExcess('{"a":[1,{"b":"[[,,"}]}', limits)).toBe(null);
  expect(jsonExcess("[[[[]]]]", limits)).toBe("is nested more than 3 levels deep");
  expect(jsonExcess("[1,2,3,4,5]", limits)).toBe("holds more than 5 values");
  expect(jsonExcess("[{},{},{}]", limits)).toBe("holds more than 5 values");
});

test.each([null, undefined, [], "{}", 1, true])("%j is no object", (value) => {
  expect(isObject(value)).toBe(false);
  expect(isObject({ value })).toBe(true);
});
