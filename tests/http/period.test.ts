import { expect, test } from "vitest";
import { everyDay, periodProblem, statsPeriod } from "../../src/http/period.ts";

const now = Date.UTC(2026, 10, 21, 17, 30);
const day = (text: string) => new Date(`${text}T00:00:00Z`);
const blank = { count: 0, failures: 0 };

test("statistics are about the last 30 days unless they are told otherwise, with the whole of today", () => {
  expect(statsPeriod({}, now)).toEqual({ from: day("2026-10-23"), to: day("2026-11-22") });
  expect(statsPeriod({ to: day("2026-03-31") }, now)).toEqual({ from: day("2026-03-01"), to: day("2026-03-31") });
  expect(statsPeriod({ from: day("2026-11-20") }, now)).toEqual({ from: day("2026-11-20"), to: day("2026-11-22") });
  expect(everyDay(statsPeriod({}, now), [], blank)).toHaveLength(30);
});

test("a period is not backwards and at most 366 days long", () => {
  const problem = (from: string, to: string) => periodProblem({ from: day(from), to: day(to) });
  expect(problem("2026-01-01", "2026-01-01")).toBeNull();
  expect(problem("2026-01-02", "2026-01-01")).toMatch(/^from: must not be after to/);
  expect(problem("2024-01-01", "2025-01-01")).toBeNull();
  expect(problem("2024-01-01", "2025-01-02")).toBe("from: must be at most 366 days before to");
});

test("every day that the period touches is listed once", () => {
  const period = { from: new Date("2026-02-27T23:00:00Z"), to: new Date("2026-03-01T00:00:00.001Z") };
  const counted = [{ date: "2026-02-28", count: 5, failures: 1 }];
  expect(everyDay(period, counted, blank)).toEqual([
    { date: "2026-02-27", count: 0, failures: 0 },
    { date: "2026-02-28", count: 5, failures: 1 },
    { date: "2026-03-01", count: 0, failures: 0 },
  ]);
  expect(everyDay({ from: day("2026-02-27"), to: day("2026-02-28") }, [], blank)).toHaveLength(1);
  expect(everyDay({ from: day("2026-02-27"), to: day("2026-02-27") }, [], blank)).toEqual([]);
});
