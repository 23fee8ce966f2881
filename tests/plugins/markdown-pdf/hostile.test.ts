import { setImmediate as immediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { made } from "./read-pdf.ts";

const kilobyte = 1024;
const filled = (text: string, length = 64 * kilobyte) => text.repeat(Math.ceil(length / text.length)).slice(0, length);
const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join("\n");

const tooLong = /would have more than 200 pages/;

// Marks for which some markdown readers take quadratic time, or a nested call each.
test.each([
  ["quotes in quotes", filled(">"), null],
  ["quotes ever deeper", lines(500, (index) => `${">".repeat(index)}a`), null],
  ["lists in one line", filled("1. "), null],
  ["lists in quotes in lists", filled("- > "), null],
  ["lists 300 deep", lines(300, (index) => `${"  ".repeat(index)}- a`), null],
  ["stars", filled("a*"), null],
  ["strong that never ends", filled("**a_b"), null],
  ["brackets", filled("["), null],
  ["brackets that close", `${filled("[", 30_000)}${filled("](a)", 30_000)}`, null],
  ["images that never end", filled("!["), null],
  ["code of ever more ticks", lines(400, (index) => "`".repeat(index)), null],
  ["tags", filled("<b>"), null],
  ["tags that never end", filled("<a "), null],
  ["comments that never end", filled("<!--\n\n"), null],
  ["a word of as many characters as the text", filled("x"), null],
  ["a code line of as many characters as the text", `\`\`\`\n${filled("x")}`, null],
  ["accents on one letter", `a${filled("\u0301")}`, null],
  ["accents out of order, which are sorted", `a${filled("\u0301\u0323")}`, null],
  ["characters that are not to be seen", filled("\u200d\u0000", 20_000), null],
  [
    "as many characters as there are",
    lines(200, (row) =>
      Array.from({ length: 250 }, (_, column) => String.fromCodePoint(0x10000 + row * 250 + column)).join(""),
    ),
    null,
  ],
  [
    "links and their definitions",
    `${lines(3000, (index) => `[${index}]: http://b.c`)}\n\n${lines(3000, (index) => `[${index}]`)}`,
    null,
  ],
  ["rows without end", `a|b\n-|-\n${filled("a|b\n")}`, tooLong],
  ["items without end", filled("- a\n"), tooLong],
  ["headings without end", filled("# a\n"), tooLong],
  ["rules without end", filled("---\n"), tooLong],
])("%s neither hang nor crash", async (_, markdown, problem) => {
  const started = performance.now();
  const making = made(markdown);
  if (problem) await expect(making).rejects.toThrow(problem);
  else expect((await making).pages).toBeGreaterThan(0);
  expect(performance.now() - started).toBeLessThan(20_000);
});

test("markdown of more than 512 KB is refused", async () => {
  await expect(made("ж".repeat(256 * kilobyte + 1))).rejects.toThrow("markdown: at most 512 KB");
});

test("other work continues while a long document is made, and an abandoned call ends", async () => {
  const prose = filled(
    "The quick **brown** fox [jumps](https://example.com) over `the` lazy dog. ".repeat(9).concat("\n\n"),
    512 * kilobyte,
  );
  let longest = 0;
  const abort = new AbortController();
  const done = made(prose, abort.signal).then(
    () => "made",
    (error: Error) => error.name,
  );
  let ended: string | null = null;
  void done.then((outcome) => {
    ended = outcome;
  });
  for (let turns = 0; ended === null; turns++) {
    const before = performance.now();
    await immediate();
    longest = Math.max(longest, performance.now() - before);
    if (turns === 40) abort.abort();
  }
  expect(ended).toBe("AbortError");
  // A slice is 8 ms; a shared machine may add any time.
  expect(longest).toBeLessThan(1_000);
});

test("of ten thousand links and more the last lead nowhere, and the result says so", async () => {
  const { warnings, bytes } = await made(filled("a@b.c ", 66_000));
  expect(warnings).toEqual(["Of the links only the first 10000 lead somewhere"]);
  expect(new TextDecoder("latin1").decode(bytes).match(/\/Subtype \/Link/g)).toHaveLength(10_000);
});
