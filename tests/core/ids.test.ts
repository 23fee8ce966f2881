import { expect, test } from "vitest";
import { isUuid, newId } from "../../src/core/ids.ts";

test("an id is a UUID, in either case", () => {
  const id = newId();
  expect(isUuid(id)).toBe(true);
  expect(isUuid(id.toUpperCase())).toBe(true);
});

test.each([
  "",
  "x",
  "01936b2e8f007a319c542f1d0a6b7c8d",
  "{01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d}",
  "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d\n",
  "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8g",
])("%j is none", (text) => {
  expect(isUuid(text)).toBe(false);
});
