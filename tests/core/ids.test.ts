import { expect, onTestFinished, test, vi } from "vitest";
import { isUuid, newId } from "../../src/core/ids.ts";

test("an id is a UUID, in either case", () => {
  const id = newId();
  expect(isUuid(id)).toBe(true);
  expect(isUuid(id.toUpperCase())).toBe(true);
});

test("ids sort as they were made, also those of one millisecond and of a clock that went back", () => {
  vi.useFakeTimers({ now: 1_700_000_000_000, toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const ids = Array.from({ length: 1000 }, (_, index) => {
    vi.setSystemTime(1_700_000_000_000 + ([0, 5, 3][index % 3] ?? 0) + Math.floor(index / 300) * 10);
    return newId();
  });
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.toSorted()).toEqual(ids);
});

test("no two ids share their randomness", () => {
  const ids = Array.from({ length: 1000 }, () => newId().slice(-12));
  expect(new Set(ids).size).toBe(ids.length);
});

test.each([
  "",
  "x",
  "01936b2e8f007a319c542f1d0a6b7c8d",
  "{01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d}",
  "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d\n",
  "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8g",
])("%j is none", (text) => {
  expect(isUuid(text)).toBe(false);
});
