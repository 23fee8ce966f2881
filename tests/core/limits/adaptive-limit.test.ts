import { expect, test } from "vitest";
import { AdaptiveLimit, leastSlots } from "../../../src/core/limits/adaptive-limit.ts";

const calm = { lateMs: 0, tookMs: [5], stalledMs: 0, reached: false };

/** A limit, and updates of it 50 ms apart. */
function limit() {
  const limit = new AdaptiveLimit();
  let now = 0;
  return {
    look(seen: Partial<typeof calm>, times = 1): number {
      for (let n = 0; n < times; n += 1) {
        now += 50;
        limit.look({ ...calm, ...seen }, now);
      }
      return limit.slots;
    },
    isLate: () => limit.isLate(now),
  };
}

test("one pause changes nothing; an event loop that stays late has the limit shrink, down to a few places", () => {
  const { look, isLate } = limit();
  const before = look({});
  expect(look({ lateMs: 40 })).toBe(before);
  expect(look({})).toBe(before);
  expect(isLate()).toBe(false);
  look({ lateMs: 40 });
  expect(look({ lateMs: 40 })).toBeLessThan(before);
  expect(isLate()).toBe(true);
  expect(look({ lateMs: 40 }, 100)).toBe(leastSlots);
});

test("a loop that is busy with a crowd for a quarter of a second is believed at once", () => {
  const { look, isLate } = limit();
  look({ lateMs: 65 });
  expect(isLate()).toBe(true);
});

test("a database that is slow, or answers nothing, has it shrink; one that is far away does not", () => {
  const slow = limit();
  const before = slow.look({});
  expect(slow.look({ tookMs: [400, 500, 600] }, 3)).toBeLessThan(before);

  const hung = limit();
  hung.look({});
  expect(hung.look({ tookMs: [], stalledMs: 500 }, 3)).toBeLessThan(before);

  const far = limit();
  expect(far.look({ tookMs: [150, 180] }, 10)).toBe(before);
});

test("it grows while no call is late and some wait, and returns once none waits", () => {
  const { look } = limit();
  const usual = look({});
  const shrunk = look({ lateMs: 40, reached: true }, 20);
  const grown = look({ reached: true }, 20);
  expect(grown).toBeGreaterThan(shrunk);
  // Neither late nor with capacity to spare: the limit is right.
  expect(look({ lateMs: 13, reached: true }, 20)).toBe(grown);
  expect(look({}, 19)).toBe(grown);
  expect(look({}, 2)).toBe(usual);
});
