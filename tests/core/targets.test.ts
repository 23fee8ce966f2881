import { describe, expect, test } from "vitest";
import { messengerNames } from "../../src/core/channels/messengers.ts";
import { readTarget } from "../../src/core/channels/targets.ts";

describe("a target", () => {
  test.each([
    ["telegram", "4711", "4711"],
    ["telegram", "-1001234567890", "-1001234567890"],
    ["telegram", "-1001234567890/45", "-1001234567890:45"],
    ["telegram", "-1001234567890:45", "-1001234567890:45"],
    ["telegram", "@my_channel", "@my_channel"],
    ["telegram", "@my_channel/7", "@my_channel:7"],
    ["slack", "C0123ABCDEF", "C0123ABCDEF"],
    ["slack", "U0123ABCDEF", "U0123ABCDEF"],
    ["slack", "D024BE91L:1767225600.000100", "D024BE91L:1767225600.000100"],
    ["slack", "C0123ABCDEF/1767225600.000100", "C0123ABCDEF:1767225600.000100"],
    ["whatsapp", "+390612345678", "+390612345678"],
    ["whatsapp", "whatsapp:+390612345678", "+390612345678"],
    // A person who hides their number, as Twilio names them.
    ["whatsapp", "US.13491208655302741918", "US.13491208655302741918"],
  ] as const)("of %s may be %s", (name, text, target) => {
    expect(readTarget(name, text)).toEqual({ target });
  });

  test.each([
    [
      "telegram",
      [
        "+4711",
        "-100123_45",
        "https://t.me/c/123/45",
        "@ab",
        "ada",
        "0",
        "-",
        "1e3",
        "4711/",
        "4711/x",
        "1".repeat(40),
      ],
    ],
    ["slack", ["#general", "general", "@ann", "c0123abc", "C0123ABC:", "C0123ABC:1767225600", "T0123ABC"]],
    [
      "whatsapp",
      ["+39 06 1234567", "003906123456", "06123456", "whatsapp:06123456", "+0612345678", "sms:+390612345678"],
    ],
  ] as const)("of %s is nothing else: what is expected is said", (name, texts) => {
    const words = {
      telegram: /^must be the number of a chat .* @channel; .* \/<topic>/,
      slack: /^must be the id of a channel, person or thread/,
      whatsapp: /^must be a phone number in E\.164/,
    };
    for (const text of texts)
      expect([text, readTarget(name, text)]).toEqual([text, { expected: expect.stringMatching(words[name]) }]);
  });

  test("is read at once, however long it is", () => {
    const began = performance.now();
    for (const name of messengerNames)
      for (const sign of ["1", "@a", "C", "+1", "US.a"]) readTarget(name, sign.repeat(100_000));
    expect(performance.now() - began).toBeLessThan(1_000);
  });
});
