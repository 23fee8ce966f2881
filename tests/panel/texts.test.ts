import { expect, test } from "vitest";
import { isDate } from "../../src/panel/data/days.ts";
import { jsonIn } from "../../src/panel/data/json.ts";
import { refusalText } from "../../src/panel/data/refusal-text.ts";
import { rolesGivenBy } from "../../src/panel/pages/organization/roles.ts";

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
])("what is no JSON is told of in words: %j", (text, said) => {
  expect(() => jsonIn(text, "tea.json")).toThrow(said);
  expect(() => jsonIn(text, "tea.json")).not.toThrow("Unexpected");
});

test("a year that is still typed makes no date", () => {
  expect(["0002-01-01", "0202-01-01", "2026-01", "2026-02-30x", ""].filter(isDate)).toEqual([]);
  expect(["2026-01-31"].filter(isDate)).toEqual(["2026-01-31"]);
});

test("Owners alone are offered to make Owners", () => {
  const given = (role: string) => rolesGivenBy(role).map(({ value }) => value);
  expect(given("admin")).toEqual(["viewer", "member", "admin"]);
  expect(given("owner")).toContain("owner");
});
