import { expect, test } from "vitest";
import { scrubber } from "../../../src/core/scrub/scrub.ts";
import { describeCause } from "../../../src/features/turns/end/cause.ts";

const secret = "0123456789abcdefghijklmnopqrstuvwxyz";
const scrub = scrubber([secret]);

test("a cause is reported with the status, the body and its own cause", () => {
  const error = Object.assign(new Error("refused", { cause: new TypeError("inner") }), {
    statusCode: 400,
    responseBody: "bad",
  });
  expect(describeCause(error)).toBe("Error: refused (status 400) bad; caused by TypeError: inner");
  expect(describeCause({ a: 1 })).toBe('{"a":1}');
});

test("no part of a secret stays where a text is cut", () => {
  const answer = Object.assign(new Error("x"), { responseBody: `${"y".repeat(1_980)}${secret}` });
  const long = new Error(`${"y".repeat(3_970)}${secret}`);
  for (const cause of [answer, long, `${"y".repeat(3_980)}${secret}`]) {
    const words = describeCause(cause, scrub);
    expect(words).toContain("yyy");
    expect(words).not.toContain("012");
    expect(words.length).toBeLessThanOrEqual(4_000);
  }
});
