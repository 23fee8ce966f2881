import { expect, test } from "vitest";
import { backoffMs } from "../../src/jobs/backoff.ts";

test("rests double up to 15 minutes", () => {
  const rests = Array.from({ length: 10 }, (_, index) => backoffMs(index + 1, 0) / 1000);
  expect(rests).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 900, 900]);
  expect(backoffMs(5000, 0)).toBe(900_000);
});

test("jitter takes away up to half", () => {
  expect(backoffMs(1, 1)).toBe(2_500);
  expect(backoffMs(1, 0.5)).toBe(3_750);
  expect(backoffMs(20, 0.999)).toBeGreaterThan(450_000);
});
