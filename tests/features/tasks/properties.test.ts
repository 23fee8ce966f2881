import fc from "fast-check";
import { expect, it } from "vitest";
import { missedRuns, nextRun, type Schedule, scheduleProblem } from "../../../src/features/tasks/schedule.ts";
import { zones } from "./clocks.ts";

const anchor = new Date("2026-11-23T00:00:00Z");
const field = (min: number, max: number) => {
  const one = fc.integer({ min, max });
  const range = fc.tuple(one, one).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
  const list = fc
    .array(fc.oneof(one.map(String), range), { minLength: 1, maxLength: 3 })
    .map((parts) => parts.join(","));
  const step = fc.integer({ min: 1, max: max - min }).map((size) => `*/${size}`);
  return fc.oneof({ weight: 3, arbitrary: fc.constant("*") }, { weight: 2, arbitrary: list }, step);
};
const expression = fc
  .tuple(field(0, 59), field(0, 4), field(1, 31), field(1, 12), field(0, 7))
  .map((fields) => fields.join(" "));
const timezone = fc.constantFrom(
  ...zones.map(({ name }) => name),
  "America/Nuuk",
  "Asia/Kathmandu",
  "Africa/Casablanca",
);
const time = (min: string, max: string) => fc.date({ min: new Date(min), max: new Date(max), noInvalidDate: true });
/** Mostly near a change of clocks, where faults are likely. */
const moment = fc.oneof(
  time("2026-01-01", "2029-01-01"),
  fc
    .tuple(
      fc.constantFrom(...zones.flatMap(({ changes }) => changes)),
      fc.integer({ min: -86_400_000, max: 86_400_000 }),
    )
    .map(([{ at }, shift]) => new Date(at + shift)),
);
const schedule: fc.Arbitrary<Schedule> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ type: fc.constant("cron" as const), expression, timezone }) },
  fc.record({ type: fc.constant("interval" as const), everyMs: fc.integer({ min: 60_000, max: 100_000_000 }) }),
  fc.record({ type: fc.constant("one-shot" as const), runAt: moment.map((date) => date.toISOString()) }),
);

it("the next run is after, and none is between", () => {
  fc.assert(
    fc.property(schedule, moment, (some, after) => {
      const run = nextRun(some, after, anchor);
      if (!run) return;
      expect(run.getTime()).toBeGreaterThan(after.getTime());
      if (some.type === "cron") expect(run.getTime() % 60_000).toBe(0);
      const justBefore = new Date(run.getTime() - 1);
      expect(nextRun(some, justBefore, anchor)).toEqual(run);
      const between = new Date(after.getTime() + Math.floor((justBefore.getTime() - after.getTime()) / 2));
      expect(nextRun(some, between, anchor)).toEqual(run);
    }),
    { numRuns: 100 },
  );
});

it("the next run after a later time is never earlier", () => {
  fc.assert(
    fc.property(schedule, moment, fc.integer({ min: 0, max: 7_200_000 }), (some, after, shift) => {
      const first = nextRun(some, after, anchor)?.getTime() ?? Number.POSITIVE_INFINITY;
      const second = nextRun(some, new Date(after.getTime() + shift), anchor)?.getTime() ?? Number.POSITIVE_INFINITY;
      expect(second).toBeGreaterThanOrEqual(first);
    }),
    { numRuns: 100 },
  );
});

it("the missed times are those that would have run, each once", () => {
  fc.assert(
    fc.property(schedule, moment, fc.nat(12), (some, after, length) => {
      const from = some.type === "interval" ? anchor : after;
      const runs: Date[] = [];
      for (let run = nextRun(some, from, anchor); run && runs.length < length; run = nextRun(some, run, anchor))
        runs.push(run);
      expect(new Set(runs.map(Number)).size).toBe(runs.length);
      const until = runs.at(-1) ?? from;
      expect(missedRuns(some, from, until, 5)).toEqual({ count: runs.length, more: false, last: runs.slice(-5) });
    }),
    { numRuns: 100 },
  );
});

it("any text is either a schedule that runs or has a problem", () => {
  const hostile = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(fc.constantFrom(..."0123456789*/,-?LW#+@: \tMONJAN"), { maxLength: 40 }).map((parts) => parts.join("")),
    fc
      .array(fc.constantFrom("*", "L", "LW", "1W", "1#5", "+1", "?", "0-59/7", "L,1", "-1", "1-", "MON#L"), {
        minLength: 5,
        maxLength: 5,
      })
      .map((parts) => parts.join(" ")),
  );
  fc.assert(
    fc.property(hostile, timezone, (text, zone) => {
      const some: Schedule = { type: "cron", expression: text, timezone: zone };
      if (scheduleProblem(some, anchor)) return;
      expect(nextRun(some, anchor, anchor)?.getTime()).toBeGreaterThan(anchor.getTime());
    }),
    { numRuns: 100 },
  );
});
