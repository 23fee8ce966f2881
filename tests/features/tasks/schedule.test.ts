import { describe, expect, it } from "vitest";
import {
  countedRuns,
  longestInterval,
  missedRuns,
  nextRun,
  type Schedule,
  scheduleProblem,
} from "../../../src/features/tasks/schedule.ts";
import { Schedule as Shape } from "../../../src/features/tasks/settings/schema.ts";
import { runsOf2027, timesAround, type Zone, zones } from "./clocks.ts";

const at = (text: string) => new Date(text);
const now = at("2026-11-23T00:00:00Z");
const cron = (expression: string, timezone = "UTC"): Schedule => ({ type: "cron", expression, timezone });
const minutely: Schedule = { type: "interval", everyMs: 60_000 };

/** All runs from `after` until `until`, each found from the one before. */
function chain(schedule: Schedule, after: Date, until: Date): string[] {
  const runs: string[] = [];
  for (let run = nextRun(schedule, after, now); run && run < until; run = nextRun(schedule, run, now)) {
    runs.push(run.toISOString());
  }
  return runs;
}

/** The runs of the year 2027, by the clocks of the zone. */
function year(expression: string, { name, offset }: Zone): string[] {
  const start = Date.parse("2027-01-01T00:00Z") - offset * 60_000;
  const end = Date.parse("2028-01-01T00:00Z") - offset * 60_000;
  return chain(cron(expression, name), new Date(start - 1), new Date(end));
}

const iso = (times: number[]) => times.map((time) => new Date(time).toISOString());

describe.each(zones)("a year in $name", (zone) => {
  it("runs a fixed time of day each day, once, whatever the clocks do", () => {
    for (const [hour, minute] of [
      [1, 45],
      [2, 0],
      [2, 15],
      [9, 0],
    ] as const) {
      const runs = year(`${minute} ${hour} * * *`, zone);
      expect(runs).toEqual(iso(runsOf2027(zone, [{ hour, minute }], true)));
      expect(runs).toHaveLength(365);
    }
  });

  it("runs once for all times of a list that are skipped", () => {
    const times = [1, 2].flatMap((hour) => [15, 45].map((minute) => ({ hour, minute })));
    expect(year("15,45 1-2 * * *", zone)).toEqual(iso(runsOf2027(zone, times, true)));
  });

  it("runs at repeated local times when the clock shows them: not in a gap, and twice when they occur twice", () => {
    const times = [1, 2].flatMap((hour) => [0, 30].map((minute) => ({ hour, minute })));
    expect(year("*/30 1-2 * * *", zone)).toEqual(iso(runsOf2027(zone, times, false)));
  });

  it("has a rule for each local minute that is skipped or doubled", () => {
    for (const { at: change } of zone.changes) {
      const [from, to] = [change - 12 * 3_600_000, change + 12 * 3_600_000];
      const inside = (run: number) => run >= from && run < to;
      for (const time of timesAround) {
        const runs = chain(cron(`${time.minute} ${time.hour} * * *`, zone.name), new Date(from - 1), new Date(to));
        expect(runs).toEqual(iso(runsOf2027(zone, [time], true).filter(inside)));
        expect(runs).toHaveLength(1);
      }
      const repeating = chain(cron("* 1-2 * * *", zone.name), new Date(from - 1), new Date(to));
      expect(repeating).toEqual(iso(runsOf2027(zone, timesAround, false).filter(inside)));
    }
  });

  it("runs an hourly task every hour, but for a shift of the clocks by half an hour", () => {
    for (const { at: change } of zone.changes) {
      const runs = chain(
        cron("0 * * * *", zone.name),
        new Date(change - 6 * 3_600_000),
        new Date(change + 6 * 3_600_000),
      );
      const gaps = runs.slice(1).map((run, index) => (Date.parse(run) - Date.parse(runs[index] ?? "")) / 60_000);
      const odd = gaps.filter((gap) => gap !== 60);
      expect(odd).toEqual(zone.name === "Australia/Lord_Howe" ? [90] : []);
    }
  });
});

describe("days", () => {
  const runs = (expression: string, from: string, count: number, timezone = "Europe/Rome") => {
    const found: string[] = [];
    for (let run = at(from); found.length < count; ) {
      run = nextRun(cron(expression, timezone), run, now) ?? at("");
      found.push(run.toISOString());
    }
    return found;
  };

  it("come on leap days only in leap years, and after 8 years where a century has none", () => {
    expect(runs("0 0 29 2 *", "2026-01-01T00:00Z", 2, "UTC")).toEqual([
      "2028-02-29T00:00:00.000Z",
      "2032-02-29T00:00:00.000Z",
    ]);
    expect(runs("0 0 29 2 *", "2096-02-29T00:00Z", 1, "UTC")).toEqual(["2104-02-29T00:00:00.000Z"]);
  });

  it("can be the last of the month", () => {
    expect(runs("30 23 L * *", "2028-01-01T00:00Z", 4, "UTC")).toEqual([
      "2028-01-31T23:30:00.000Z",
      "2028-02-29T23:30:00.000Z",
      "2028-03-31T23:30:00.000Z",
      "2028-04-30T23:30:00.000Z",
    ]);
  });

  it("that a month lacks are left out", () => {
    expect(runs("0 12 31 * *", "2027-01-31T12:00Z", 2, "UTC")).toEqual([
      "2027-03-31T12:00:00.000Z",
      "2027-05-31T12:00:00.000Z",
    ]);
  });

  it("lose a time that is skipped together with the rest of the day", () => {
    expect(runs("30 23 * * *", "2027-03-26T12:00Z", 2, "America/Nuuk")).toEqual([
      "2027-03-27T01:30:00.000Z",
      "2027-03-29T00:30:00.000Z",
    ]);
  });
});

describe("an interval", () => {
  const hourly: Schedule = { type: "interval", everyMs: 3_600_000 };

  it("runs a whole number of intervals after its anchor, first after one", () => {
    const anchor = at("2027-03-28T00:17:00Z");
    const following = (text: string) => nextRun(hourly, at(text), anchor)?.toISOString();
    expect(following("2020-01-01T00:00:00Z")).toBe("2027-03-28T01:17:00.000Z");
    expect(following("2027-03-28T00:17:00Z")).toBe("2027-03-28T01:17:00.000Z");
    expect(following("2027-03-28T01:16:59.999Z")).toBe("2027-03-28T01:17:00.000Z");
    expect(following("2027-03-28T01:17:00Z")).toBe("2027-03-28T02:17:00.000Z");
  });

  it("that is too short, too long or no whole number is refused", () => {
    for (const everyMs of [60_000, 60_001, longestInterval]) {
      expect(scheduleProblem({ type: "interval", everyMs }, now)).toBeNull();
      expect(Shape.safeParse({ type: "interval", everyMs }).success).toBe(true);
    }
    for (const everyMs of [59_999, 0, -60_000, 60_000.5, longestInterval + 1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(scheduleProblem({ type: "interval", everyMs }, now)).toBe(
        "Set everyMs to a whole number from 60000 (1 minute) to 31622400000 (366 days)",
      );
      expect(Shape.safeParse({ type: "interval", everyMs }).success).toBe(false);
    }
  });
});

describe("a one-shot", () => {
  const once: Schedule = { type: "one-shot", runAt: "2026-12-24T09:00:00+01:00" };

  it("runs once", () => {
    expect(nextRun(once, at("2026-12-24T07:59:59.999Z"), now)).toEqual(at("2026-12-24T08:00:00Z"));
    expect(nextRun(once, at("2026-12-24T08:00:00Z"), now)).toBeNull();
  });

  it("is refused in the past, too far ahead, and without a zone", () => {
    const problem = (runAt: string) => scheduleProblem({ type: "one-shot", runAt }, now);
    expect(problem("2026-11-23T00:00:00.001Z")).toBeNull();
    expect(problem("2026-11-23T00:00:00Z")).toBe("Set runAt to a time in the future");
    expect(problem("2036-11-23T00:00:00Z")).toBeNull();
    expect(problem("2036-11-23T00:00:00.001Z")).toBe("Set runAt to a time within the next 10 years");
    expect(problem("tomorrow")).toBe("Set runAt to an ISO 8601 date and time with a zone");
    expect(Shape.safeParse({ type: "one-shot", runAt: "2026-12-24T09:00:00" }).success).toBe(false);
    expect(Shape.safeParse({ type: "one-shot", runAt: "2027-02-30T09:00:00Z" }).success).toBe(false);
    expect(Shape.parse(once)).toEqual(once);
  });
});

describe("missed runs", () => {
  it("are those after the last one and until now", () => {
    const missed = missedRuns(cron("0 9 * * *", "Europe/Rome"), at("2027-03-26T08:00Z"), at("2027-03-29T07:00Z"), 2);
    expect(missed).toEqual({ count: 3, more: false, last: [at("2027-03-28T07:00Z"), at("2027-03-29T07:00Z")] });
    expect(missedRuns(cron("0 9 * * *"), at("2027-01-01T09:00Z"), at("2027-01-02T08:59:59.999Z"), 5).count).toBe(0);
  });

  it("of an interval are counted without end, and of a one-shot there is at most one", () => {
    const [start, end] = [at("1990-01-01T00:00Z"), at("2027-01-01T00:00:30Z")];
    expect(missedRuns(minutely, start, end, 2)).toEqual({
      count: (end.getTime() - 30_000 - start.getTime()) / 60_000,
      more: false,
      last: [at("2026-12-31T23:59:00Z"), at("2027-01-01T00:00:00Z")],
    });
    expect(missedRuns(minutely, end, start, 2)).toEqual({ count: 0, more: false, last: [] });
    const once: Schedule = { type: "one-shot", runAt: "2026-12-24T09:00:00Z" };
    expect(missedRuns(once, start, end, 5)).toEqual({ count: 1, more: false, last: [at("2026-12-24T09:00Z")] });
    expect(missedRuns(once, at("2026-12-24T09:00Z"), end, 5).count).toBe(0);
    expect(missedRuns(once, start, at("2026-12-24T08:59Z"), 5).count).toBe(0);
  });

  it("of a cron expression are counted up to a bound, in bounded time", () => {
    const started = performance.now();
    const missed = missedRuns(cron("* * * * *"), at("1990-01-01T00:00Z"), at("2027-01-01T00:00:30Z"), 2);
    expect(missed).toEqual({
      count: countedRuns,
      more: true,
      last: [at("2026-12-31T23:59:00Z"), at("2027-01-01T00:00:00Z")],
    });
    expect(performance.now() - started).toBeLessThan(2000);
    const exact = missedRuns(cron("* * * * *"), at("2027-01-01T00:00Z"), at("2027-01-01T04:10Z"), 0);
    expect(exact).toEqual({ count: countedRuns, more: false, last: [] });
  });
});

describe("an expression", () => {
  it.each([
    "0 9 * * 1-5",
    "@daily",
    "@hourly",
    "*/5 8-18 * * MON-FRI",
    "0 0 L * *",
    "0 9 * * 1#2",
    "0 0 29 2 *",
    " 0  0 1 1 * ",
  ])("can be %s", (expression) => {
    expect(scheduleProblem(cron(expression, "Europe/Rome"), now)).toBeNull();
    expect(Shape.safeParse(cron(expression, "Europe/Rome")).success).toBe(true);
  });

  const five = /^Write the cron expression with five fields \(minute, .*no seconds and no year$/;
  const never = "Correct the cron expression: no time of the next 10 years matches it";
  it.each([
    ["", five],
    ["   ", five],
    ["* * * *", five],
    ["0 * * * * *", five],
    ["0 0 9 * * * 2027", five],
    ["@reboot", five],
    ["2027-01-01T00:00:00", five],
    ["60 * * * *", /^Correct the minute of .* takes 0 to 59, /],
    ["5/5 * * * *", /^Correct the minute /],
    ["*/0 * * * *", /^Correct the minute /],
    ["0 24 * * *", /^Correct the hour .* 0 to 23, /],
    ["0 9 0 * *", /^Correct the day of the month .* 1 to 31, /],
    ["0 9 * 13 *", /^Correct the month .* 1 to 12, /],
    ["0 9 * * 8", /^Correct the day of the week .* 0 to 7, /],
    ["0 9 * * \u202e1", /^Correct the day of the week /],
    ["0 0 30 2 *", never],
    ["0 0 31 2,4,6,9,11 *", never],
    ["0 0 31W 2 *", never],
    ["0 0 L 2 +MON#1", never],
    // Each match is in the hour that Rome's clocks skip.
    ["* 2 25-31 3 +SUN", never],
  ] as const)("can't be %j, and the problem says why", (expression, problem) => {
    const started = performance.now();
    expect(scheduleProblem(cron(expression, "Europe/Rome"), now)).toMatch(problem);
    expect(performance.now() - started).toBeLessThan(2000);
  });

  it("that is very long is refused unread", () => {
    const long = `${"1,".repeat(5_000_000)}1 * * * *`;
    const started = performance.now();
    expect(scheduleProblem(cron(long), now)).toBe("Shorten the cron expression: it takes at most 200 characters");
    expect(performance.now() - started).toBeLessThan(50);
    expect(Shape.safeParse(cron(`${"1,".repeat(100)}1 * * * *`)).success).toBe(false);
  });

  it("needs a time zone that the runtime knows", () => {
    for (const zone of ["", "Nowhere/City", "+02:00", "Europe/Rome; drop"]) {
      expect(scheduleProblem(cron("0 9 * * *", zone), now)).toBe(
        "Set timezone to an IANA time zone, such as Europe/Rome",
      );
      expect(Shape.safeParse(cron("0 9 * * *", zone)).success).toBe(false);
    }
    expect(nextRun(cron("0 9 * * *", "europe/ROME"), now, now)).toEqual(at("2026-11-23T08:00Z"));
  });
});
