import { expect, test } from "vitest";
import { actionFilter, everyDay, periodProblem, searchPeriod, statsPeriod } from "../../../src/features/audit/rules.ts";

const now = Date.UTC(2026, 10, 21, 17, 30);
const day = (text: string) => new Date(`${text}T00:00:00Z`);

test("statistics are about the last 30 days unless they are told otherwise, with the whole of today", () => {
  expect(statsPeriod({}, now)).toEqual({ from: day("2026-10-23"), to: day("2026-11-22") });
  expect(statsPeriod({ to: day("2026-03-31") }, now)).toEqual({ from: day("2026-03-01"), to: day("2026-03-31") });
  expect(statsPeriod({ from: day("2026-11-20") }, now)).toEqual({ from: day("2026-11-20"), to: day("2026-11-22") });
  expect(everyDay(statsPeriod({}, now), [])).toHaveLength(30);
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
  expect(everyDay(period, counted)).toEqual([
    { date: "2026-02-27", count: 0, failures: 0 },
    { date: "2026-02-28", count: 5, failures: 1 },
    { date: "2026-03-01", count: 0, failures: 0 },
  ]);
  expect(everyDay({ from: day("2026-02-27"), to: day("2026-02-28") }, [])).toHaveLength(1);
  expect(everyDay({ from: day("2026-02-27"), to: day("2026-02-27") }, [])).toEqual([]);
});

test.each([
  ["agent.update", "agent.update", false],
  ["agent.", "agent.", true],
  ["agent.*", "agent.", true],
  ["agent*", "agent", true],
  ["*", "", true],
])("the action filter %s", (given, action, prefix) => {
  expect(actionFilter(given)).toEqual({ action, prefix });
});

test("a search has a beginning: 90 days before the end of its period or before now", () => {
  const open = { from: null, to: null };
  expect(searchPeriod({}, now)).toEqual(open);
  expect(searchPeriod({ search: "", actor: "" }, now)).toEqual(open);
  expect(searchPeriod({ to: day("2026-11-01") }, now)).toEqual({ from: null, to: day("2026-11-01") });
  const usual = new Date(now - 90 * 24 * 3_600_000);
  expect(searchPeriod({ search: "a" }, now)).toEqual({ from: usual, to: null });
  expect(searchPeriod({ actor: "a", to: day("2999-01-01") }, now)).toEqual({ from: usual, to: day("2999-01-01") });
  const { from } = searchPeriod({ search: "a", to: day("2026-04-01") }, now);
  expect(from).toEqual(day("2026-01-01"));
  expect(searchPeriod({ search: "a", from: day("2020-01-01") }, now)).toEqual({ from: day("2020-01-01"), to: null });
});
