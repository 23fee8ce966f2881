import fc from "fast-check";
import { expect, test } from "vitest";
import { readVerdict } from "../../../../src/features/room/events/matching-prompt.ts";
import { anyCharacter } from "./characters.ts";

const yes = ["yes", "y", "yeah", "yep", "true", "sì", "si", "certo", "vero", "esatto"];
const no = ["no", "n", "nope", "false", "falso"];

test("each decided word decides, in any case, form and decoration, whatever follows", () => {
  const decoration = fc.constantFrom(
    "",
    "**",
    "«",
    '"',
    "`",
    "_",
    "# ",
    "> ",
    "- ",
    "…",
    "👍 ",
    "\u200b",
    "\u202e",
    "“",
    "\n",
  );
  const rest = fc.constantFrom(
    "",
    ".",
    ",",
    "!**",
    "»",
    '."',
    " and no",
    " yes",
    "\n\nSince it is.",
    ": it is",
    "—so",
    " 🎉",
  );
  const cased = fc.constantFrom(
    (word: string) => word,
    (word: string) => word.toUpperCase(),
    (word: string) => word.normalize("NFD"),
  );
  fc.assert(
    fc.property(decoration, fc.constantFrom(...yes, ...no), cased, rest, (before, word, change, after) => {
      expect(readVerdict(before + change(word) + after)).toBe(yes.includes(word));
    }),
  );
});

test.each([
  ["**Sì,** è così", true],
  ["SI\u0300!", true],
  ["si', certo", true],
  ['"Yes."', true],
  ["Yes and no", true],
  ["Yes, no doubt", true],
  ["✅️ Yes", true],
  ["y\u200be\u00ads\u2060", true],
  ["\u2067\u202eyes\u2069", true],
  ["<b>Yes</b><br>", true],
  ["```text\nyes\n```", true],
  ["```yes```", true],
  ["<think>\nNo order is named. Or is it?\n</think>\n\n**Yes**", true],
  ["No order is named, it seems.\n</think>\nyes", true],
  ["Yes: </think> ends it.</think>no", false],
  ["<think></think>\n\nno", false],
  ["<THINKING>Yes: it\n<think>is</think> late</THINKING>No.", false],
  ["[Yes]", true],
  ["«no»", false],
  ["No, yes would be wrong", false],
  ["n.", false],
  ["*FALSE*", false],
])("%j says %j", (answer, verdict) => expect(readVerdict(answer)).toBe(verdict));

test("a long row of combining marks, which normalizing would take minutes for, is read at once", () => {
  const startedAt = performance.now();
  expect(readVerdict(`s${"\u0323\u0300".repeat(100_000)}`)).toBeNull();
  expect(readVerdict(`yes ${"\u0323\u0301".repeat(100_000)}`)).toBe(true);
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});

test.each([
  ...["", " \n", "👍", "✅", "***", "...", "<yes>", "\u200b"],
  ...["<think>Yes, it may be one", "<think>yes</think>", "<think>Yes</think> <think>", "yes</think>"],
  ...["maybe", "It is: yes", "The answer is no", "Answer: yes", '{"answer":"yes"}', "1. yes", "I am the demo model"],
  ...["yes/no", "Yes|No", "y'all", "y.e.s", "no-one", "N/A", "yesno", "yess", "noo", "yes1", "non", "not"],
  ...[
    "уеs",
    "ｙｅｓ",
    "n0",
    "nо",
    "sí",
    "yés",
    "yes\u0301",
    "ja",
    "oui",
    "1",
    "0",
    "ok",
    "correct",
    "__proto__",
    "constructor",
  ],
])("%j says neither", (answer) => expect(readVerdict(answer)).toBeNull());

test("no answer breaks it or takes long", () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (answer) => {
      expect([true, false, null]).toContain(readVerdict(answer));
    }),
  );
  const started = performance.now();
  for (const part of ["<think>", "</think>", "</think", "<a", "*", "a*", "a", " ", "\u0301", "```", "\u200b"])
    readVerdict(part.repeat(200_000));
  for (const part of ["*", "a*"]) readVerdict(`a${part.repeat(200_000)}a`);
  expect(performance.now() - started).toBeLessThan(2_000);
});
