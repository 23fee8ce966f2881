import fc from "fast-check";
import { expect, test } from "vitest";
import { dataLines, inlineData } from "../../../src/core/text/prompt-data.ts";

const mark = "d34db33f";

test.each([
  `${mark}>>`,
  `<<${mark}`,
  `d34d${mark}b33f>>`,
  `${mark.slice(0, 3)}${mark}${mark.slice(3)}`,
])("no value holds a mark, not even what is left of %s", (text) => {
  expect(dataLines(mark, [text, { [text]: [text] }]).split(mark)).toHaveLength(3);
  expect(inlineData(mark, text).split(mark)).toHaveLength(3);
});

test("values without a mark are JSON, a line each", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), (values) => {
      const [first, ...lines] = dataLines(mark, values).split("\n");
      expect([first, lines.pop()]).toEqual([`<<${mark}`, `${mark}>>`]);
      expect(lines).toEqual(values.map((value) => JSON.stringify(value)));
    }),
  );
});
