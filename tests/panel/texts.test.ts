import { expect, test } from "vitest";
import { isDate } from "../../src/panel/data/days.ts";
import { changeAt, valueAt } from "../../src/panel/data/form/paths.ts";
import { offsetIn } from "../../src/panel/data/list/offset.ts";
import { issuesText, refusalText } from "../../src/panel/data/refusal-text.ts";
import { jsonIn } from "../../src/panel/data/text.ts";
import { everyProblem } from "../../src/panel/pages/agents/agent/tasks/schedule.ts";
import { builtInRoles, rolesGivenBy } from "../../src/panel/pages/organization/role-choices.ts";
import { type FieldTable, fieldsIn, sayLabels } from "../../src/panel/ui/form/table.ts";
import { countText, pageText, remainingText } from "../../src/panel/ui/text/numbers.ts";

test("a refusal says once when to try again", () => {
  const own = "Too many requests: try again in 1 second";
  expect(refusalText(own, 1)).toBe(own);
  expect(refusalText("HTTP 429", 3)).toBe("HTTP 429. Try again in 3 s.");
  expect(refusalText("HTTP 429", null)).toBe("HTTP 429");
});

test.each([
  ['{\n  "name": "Tea"\n  "content": ""\n}', "tea.json is not JSON from line 3 on: look for a missing quote or comma"],
  ["PK", "tea.json is not JSON"],
  ['{"name": ', "tea.json is not JSON"],
])("an answer that is no JSON is described in words: %j", (text, said) => {
  expect(() => jsonIn(text, "tea.json")).toThrow(said);
  expect(() => jsonIn(text, "tea.json")).not.toThrow("Unexpected");
});

test("a refusal of fields names them as the page does, and the others by their paths", () => {
  const issues = [
    { path: "sections.1.content", message: "must be text" },
    { path: "name", message: "must be text" },
  ];
  const say = (path: string, message: string) => (path.startsWith("sections.1") ? `Soul: ${message}` : undefined);
  expect(issuesText(issues, say)).toBe("Soul: must be text; name: must be text");
});

test("a refusal of fields names them by the labels of their table, those that are not shown too", () => {
  const fields: FieldTable<{ name: string; hosts: string[]; schedule: { every: number; expression: string } }> = [
    { title: "About", fields: [{ name: "name", label: "Name" }] },
    [
      { name: "hosts", label: "Hosts", kind: "list" },
      { name: "schedule.expression", label: "Times", shown: false },
    ],
    {
      name: "schedule.every",
      path: "schedule.everyMs",
      label: "Every",
      kind: "number",
      wording: (message) => everyProblem(message, "hours"),
    },
  ];
  const issues = [
    { path: "name", message: "must not be empty" },
    { path: "hosts.1", message: "must not be empty" },
    { path: "schedule.expression", message: "is no cron expression" },
    { path: "schedule.everyMs", message: "must be at least 60000" },
    { path: "ofNoField", message: "must not be empty" },
  ];
  expect(issuesText(issues, sayLabels(fieldsIn(fields))).split("; ")).toEqual([
    "Name: must not be empty",
    "Hosts: must not be empty",
    "Times: is no cron expression",
    "Every: must be at least 1 minute",
    "must not be empty",
  ]);
});

test("a field is read and changed at its path, and leaves its neighbours alone", () => {
  const values = { limits: { calls: 1, seconds: 60 }, "on a.b": true };
  expect(valueAt(values, "limits.calls")).toBe(1);
  expect(valueAt(values, "on a.b")).toBe(true);
  expect(valueAt(values, "limits.none.deep")).toBeUndefined();
  expect(changeAt(values, "limits.calls", 2)).toEqual({ limits: { calls: 2, seconds: 60 } });
  expect(changeAt(values, "on a.b", false)).toEqual({ "on a.b": false });
});

test("durations are shown in whole units", () => {
  expect([86_399, 82_800, 3_600, 90, 5, -1].map(remainingText)).toEqual([
    "for 24 more hours",
    "for 23 more hours",
    "for 1 more hour",
    "for 2 more minutes",
    "for 1 more minute",
    "for 1 more minute",
  ]);
  expect(remainingText(2 * 86_400)).toBe("for 2 more days");
  expect(remainingText(8 * 86_400)).toBeNull();
});

test("an interval is refused in units, not in milliseconds", () => {
  expect(everyProblem("must be at least 60000", "seconds")).toBe("must be at least 60 seconds");
  expect(everyProblem("must be at least 60000", "hours")).toBe("must be at least 1 minute");
  expect(everyProblem("must be at most 31622400000", "days")).toBe("must be at most 366 days");
  expect(everyProblem("must be a whole number", "days")).toBe("must be a whole number");
});

test.each([
  ["-5", 0],
  ["1.5", 0],
  ["1e300", 0],
  ["3000000000", 0],
  ["Infinity", 0],
  ["tea", 0],
  [null, 0],
  ["50", 50],
])("the offset %j of an address begins a list at %i", (text, offset) => {
  expect(offsetIn(text)).toBe(offset);
});

test("a year that is still typed makes no date", () => {
  expect(["0002-01-01", "0202-01-01", "2026-01", "2026-02-30x", ""].filter(isDate)).toEqual([]);
  expect(["2026-01-31"].filter(isDate)).toEqual(["2026-01-31"]);
});

test("Owners alone are offered to make Owners, and nobody a role with a permission that they lack", () => {
  const reader = { value: "reader", label: "Reader", reachesAll: false, permissions: ["org:read"] } as const;
  const given = (...held: string[]) =>
    rolesGivenBy([...builtInRoles, reader], (permission) => held.includes(permission)).map(({ value }) => value);
  expect(given()).toEqual(["viewer", "member", "admin"]);
  expect(given("org:read")).toEqual(["viewer", "member", "admin", "reader"]);
  expect(given("org:write", "org:read")).toContain("owner");
});

test("a page says which entries it shows, and gives no wrong total for a list that is not counted to its end", () => {
  expect(pageText({ total: 45, limit: 20, offset: 40 })).toBe("41–45 of 45");
  expect(pageText({ total: 10_000, limit: 20, offset: 0 })).toBe(`1–20 of ${countText(10_000)}`);
  expect(pageText({ total: 10_001, limit: 20, offset: 20 })).toBe(`21–40 of more than ${countText(10_000)}`);
});
