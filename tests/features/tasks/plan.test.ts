import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mostMissed, planOf } from "../../../src/features/tasks/due/plan.ts";
import type { Schedule } from "../../../src/features/tasks/schedule.ts";
import { runsOf2027, zones } from "./clocks.ts";
import { hour, hourly, minute } from "./tasks.ts";

const at = (text: string) => new Date(`2027-${text}Z`);

const daily: Schedule = { type: "cron", expression: "0 9 * * *", timezone: "Europe/Rome" };
const everyHour = hourly as Schedule;
const minutely: Schedule = { type: "interval", everyMs: minute };

const plan = (schedule: Schedule, dueAt: Date, now: Date, onMissed: "run" | "skip" = "run") =>
  planOf({ schedule, anchorAt: at("01-01T00:00"), dueAt, onMissed }, now);

describe("a time that is due", () => {
  it.each([0, 60_000])("is on time %i ms after it", (late) => {
    const due = at("06-01T07:00");
    expect(plan(daily, due, new Date(due.getTime() + late))).toEqual({
      run: { dueAt: due, triggerType: "schedule" },
      missed: [],
      nextRunAt: at("06-02T07:00"),
    });
  });

  it("is missed later, and run late unless the task says otherwise", () => {
    const due = at("06-01T07:00");
    const now = new Date(due.getTime() + 60_001);
    const nextRunAt = at("06-02T07:00");
    expect(plan(daily, due, now)).toEqual({ run: { dueAt: due, triggerType: "missed" }, missed: [], nextRunAt });
    expect(plan(daily, due, now, "skip")).toEqual({ run: null, missed: [{ dueAt: due, alsoMissed: 0 }], nextRunAt });
  });

  it("is the last one of a one-shot", () => {
    const due = at("06-01T07:00");
    const once: Schedule = { type: "one-shot", runAt: due.toISOString() };
    expect(plan(once, due, due)).toEqual({ run: { dueAt: due, triggerType: "schedule" }, missed: [], nextRunAt: null });
  });
});

describe("missed times", () => {
  it("are recorded but for the last one, which is run", () => {
    const { run, missed } = plan(everyHour, at("06-01T07:00"), at("06-01T10:30"));
    expect(run).toEqual({ dueAt: at("06-01T10:00"), triggerType: "missed" });
    expect(missed).toEqual(["07", "08", "09"].map((h) => ({ dueAt: at(`06-01T${h}:00`), alsoMissed: 0 })));
  });

  it("are all recorded where the task skips them", () => {
    const { run, missed } = plan(everyHour, at("06-01T07:00"), at("06-01T10:30"), "skip");
    expect(run).toBe(null);
    expect(missed.map(({ dueAt }) => dueAt)).toEqual(["07", "08", "09", "10"].map((h) => at(`06-01T${h}:00`)));
  });

  it("leave on time the run that has come due meanwhile", () => {
    const { run, missed } = plan(everyHour, at("06-01T07:00"), at("06-01T09:00"), "skip");
    expect(run).toEqual({ dueAt: at("06-01T09:00"), triggerType: "schedule" });
    expect(missed).toHaveLength(2);
  });

  it.each([
    "run",
    "skip",
  ] as const)("are the last 20, of which the oldest counts the rest, where they %s", (onMissed) => {
    const { run, missed } = plan(minutely, at("06-01T00:00"), at("06-02T00:00:00"), onMissed);
    const late = plan(minutely, at("06-01T00:00"), new Date(at("06-02T00:00").getTime() + 61_500), onMissed);
    expect(run).toEqual({ dueAt: at("06-02T00:00"), triggerType: "schedule" });
    expect(missed.map(({ alsoMissed }) => alsoMissed)).toEqual([1_420, ...Array(19).fill(0)]);
    expect(missed[0]?.dueAt).toEqual(at("06-01T23:40"));
    expect(late.run).toEqual({ dueAt: at("06-02T00:01"), triggerType: "schedule" });
  });

  it("are all counted, each once", () => {
    const schedules = fc.constantFrom<Schedule>(
      minutely,
      { type: "interval", everyMs: 7 * hour },
      { type: "cron", expression: "*/30 * * * *", timezone: "Australia/Lord_Howe" },
      daily,
    );
    const late = fc.integer({ min: 0, max: 3 * 24 * hour });
    const onMisseds = fc.constantFrom("run" as const, "skip" as const);
    fc.assert(
      fc.property(schedules, late, onMisseds, (schedule, ms, onMissed) => {
        const anchorAt = at("03-27T00:00");
        const dueAt = planOf({ schedule, anchorAt, dueAt: anchorAt, onMissed: "run" }, anchorAt).nextRunAt ?? anchorAt;
        const now = new Date(dueAt.getTime() + ms);
        const { run, missed, nextRunAt } = planOf({ schedule, anchorAt, dueAt, onMissed }, now);
        const passed: number[] = [];
        for (let time: Date | null = dueAt; time && time <= now; ) {
          passed.push(time.getTime());
          time = planOf({ schedule, anchorAt, dueAt: time, onMissed }, time).nextRunAt;
        }
        const told = [...missed.map((one) => one.dueAt), ...(run ? [run.dueAt] : [])].map((time) => time.getTime());
        expect(told).toEqual(passed.slice(-told.length));
        expect(told.length + missed.reduce((sum, { alsoMissed }) => sum + alsoMissed, 0)).toBe(
          Math.min(passed.length, schedule.type === "cron" ? 251 : passed.length),
        );
        expect(missed.length).toBeLessThanOrEqual(mostMissed);
        expect(nextRunAt && nextRunAt > now).toBe(true);
      }),
      { numRuns: 30 },
    );
  });
});

describe.each(zones)("a year of 01:15, 01:45, 02:15 and 02:45 in $name", (zone) => {
  it("runs each time once, on time, also where the clocks change", () => {
    const schedule: Schedule = { type: "cron", expression: "15,45 1-2 * * *", timezone: zone.name };
    const start = new Date(at("01-01T00:00").getTime() - zone.offset * minute - 1);
    const end = new Date(Date.parse("2028-01-01T00:00Z") - zone.offset * minute);
    const runs: number[] = [];
    for (let dueAt = plan(schedule, start, start).nextRunAt; dueAt && dueAt < end; ) {
      const { run, missed, nextRunAt } = plan(schedule, dueAt, dueAt);
      expect([missed, run?.triggerType]).toEqual([[], "schedule"]);
      runs.push(dueAt.getTime());
      dueAt = nextRunAt;
    }
    const times = [1, 2].flatMap((clock) => [15, 45].map((past) => ({ hour: clock, minute: past })));
    expect(runs).toEqual(runsOf2027(zone, times, true));
  });
});
