import { expect, test } from "vitest";
import { normalized } from "../../../src/core/text/text.ts";
import { heed } from "../../../src/features/inbox/intake/keywords.ts";
import { processorTime } from "../../processor-time.ts";

test.each([
  "",
  "plain",
  "e\u0301te\u0301",
  "ﬁ ½ ㎏ 한국어 हिन्दी",
  `a${"\u0301\u0323".repeat(15)}b`,
])("of %j is the normal form", (text) => {
  for (const form of ["NFC", "NFD", "NFKC", "NFKD"] as const) expect(normalized(text, form)).toBe(text.normalize(form));
});

test("keeps 30 combining marks in a row", () => {
  expect(normalized(`a${"\u0327".repeat(100)}b`, "NFD")).toBe(`a${"\u0327".repeat(30)}b`);
});

test("of many combining marks takes time that grows with them, also in a message that may be a keyword", () => {
  const marks = `a${"\u0301\u0323".repeat(100_000)}`;
  const taken = processorTime();
  normalized(marks, "NFC");
  expect(heed(marks, false, { enabled: true, stop: ["STOP"], resume: ["START"] })).toBe("answer");
  expect(taken()).toBeLessThan(3_000);
});
