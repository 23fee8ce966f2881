import { expect, test } from "vitest";
import { isSameName } from "../../../src/features/organizations/rules.ts";

test.each([
  ["Support", "support", true],
  ["Österreich", "öSTERREICH", true],
  ["O\u0308sterreich", "Österreich", true],
  ["Ｓupport", "support", true],
  ["Support", "Support 2", false],
  ["Osterreich", "Österreich", false],
])("%j and %j are the same name: %j", (a, b, same) => {
  expect(isSameName(a, b)).toBe(same);
});
