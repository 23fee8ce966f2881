import { expect, test } from "vitest";
import { actionFilter, searchPeriod } from "../../../src/features/audit/rules.ts";

const now = Date.UTC(2026, 10, 21, 17, 30);
const day = (text: string) => new Date(`${text}T00:00:00Z`);

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
