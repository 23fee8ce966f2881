import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { GrowingText } from "../../../src/core/text/growing-text.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** The used bytes of the heap. */
function inUse(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

test("a text is what was added, whenever it is read", () => {
  const growing = new GrowingText();
  expect(growing.text).toBe("");
  let expected = "";
  for (let n = 0; n < 10_000; n += 1) {
    growing.add(`${n},`);
    expected += `${n},`;
    if (n % 3000 === 0) expect(growing.text).toBe(expected);
  }
  expect(growing.text).toBe(expected);
});

test("a text of many pieces takes less than twice its length", () => {
  const length = 3_800_000;
  const before = inUse();
  const growing = new GrowingText();
  // Each piece is a string of its own, as from a provider.
  for (let n = 0; n < length / 10; n += 1) growing.add(JSON.parse(`"${1_000_000_000 + n}"`));
  const taken = inUse() - before;
  expect(growing.text).toHaveLength(length);
  expect(taken).toBeLessThan(2 * length);
});
