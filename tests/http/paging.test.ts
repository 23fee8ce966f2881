import { expect, test } from "vitest";
import { countFitting, mostCounted, totalOf } from "../../src/http/paging.ts";

test("the last page gives the total", () => {
  expect(totalOf(3, { limit: 20, offset: 40 })).toBe(43);
  expect(totalOf(0, { limit: 20, offset: 0 })).toBe(0);
  expect(totalOf(20, { limit: 20, offset: 0 })).toBeNull();
  expect(totalOf(0, { limit: 20, offset: 40 })).toBeNull();
  expect(totalOf(3, { limit: 20, offset: 40_000 })).toBe(mostCounted);
});

test.each([
  [0, 0, 0],
  [49, 0, 49],
  [50, 0, null],
  [0, 100, null],
  [1, 100, 101],
  [50, 100, null],
  [49, 10_000, 10_001],
])("%i found on a page of 50 after %i: the total is %j", (found, offset, total) => {
  expect(totalOf(found, { limit: 50, offset })).toBe(total);
});

test.each([
  [[], 0],
  [[100], 1],
  [[100, 1], 1],
  [[4, 4, 2, 1], 3],
  [[1, 100, 1], 1],
])("of rows of %j bytes a page of 10 bytes takes %i", (sizes, taken) => {
  expect(countFitting(sizes, 10)).toBe(taken);
});
