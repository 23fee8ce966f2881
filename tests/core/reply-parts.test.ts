import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { replyParts } from "../../src/core/channels/reply-parts.ts";

const words = (count: number, word = "word") =>
  Array.from({ length: count }, (_, index) => `${word}${index}`).join(" ");

describe("the parts of a reply", () => {
  test("a short reply is one part, and a blank one is none", () => {
    expect(replyParts("Hello **you**.\n\n- one\n- two", 100)).toEqual(["Hello **you**.\n\n- one\n- two"]);
    for (const blank of [" \n\n ", "\u200b", "\u2060\n\n \u200d\ufeff"]) expect(replyParts(blank, 100)).toEqual([]);
    // Invisible letters: fillers of Hangul, the blank of Braille, and characters that only modify their neighbours.
    const inkless = ["\u3164", "\u115f\u1160", "\uffa0", "\u2800", "\u00ad\u034f", "\ufe0f", "\u{e0041}", "\u0007"];
    for (const blank of [...inkless, inkless.join(" \n")]) expect(replyParts(blank, 100)).toEqual([]);
    for (const seen of ["\u3164.", "\u2801", "가", "❤\ufe0f", "-"]) expect(replyParts(seen, 100)).toEqual([seen]);
    expect(replyParts("\u200b👩‍🚀", 100)).toEqual(["\u200b👩‍🚀"]);
  });

  test("a part ends between paragraphs", () => {
    const paragraphs = [words(10), words(10, "other"), words(10, "last")];
    expect(replyParts(paragraphs.join("\n\n"), 170)).toEqual([`${paragraphs[0]}\n\n${paragraphs[1]}`, paragraphs[2]]);
  });

  test("a long paragraph is cut between lines, then sentences, then words", () => {
    expect(replyParts("first line here\nsecond line here", 20)).toEqual(["first line here", "second line here"]);
    expect(replyParts("One is done. Two is done as well.", 20)).toEqual(["One is done.", "Two is done as well."]);
    expect(replyParts("some words that go on and on", 12)).toEqual(["some words", "that go on", "and on"]);
  });

  test("code that is cut is fenced in each part, and its indentation stays", () => {
    const code = ["if (a) {", "  one();", "  two();", "}"];
    const parts = replyParts(`Look:\n\n\`\`\`ts\n${code.join("\n")}\n\`\`\`\n\nDone.`, 30);
    expect(parts).toEqual(["Look:", "```ts\nif (a) {\n  one();\n```", "```ts\n  two();\n}\n```\n\nDone."]);
  });

  test("a blank line inside code ends no block, and an unclosed fence is closed where it is cut", () => {
    expect(replyParts("```\na\n\nb\n```", 30)).toEqual(["```\na\n\nb\n```"]);
    expect(replyParts(`\`\`\`\n${"x".repeat(30)}`, 28)).toEqual([
      `\`\`\`\n${"x".repeat(20)}\n\`\`\``,
      `\`\`\`\n${"x".repeat(10)}\n\`\`\``,
    ]);
  });

  test("links and inline code stay whole", () => {
    expect(replyParts("go to [the page](https://example.com/a) now", 38)).toEqual([
      "go to",
      "[the page](https://example.com/a) now",
    ]);
    expect(replyParts("please run `npm run build now` at once", 26)).toEqual([
      "please run",
      "`npm run build now` at",
      "once",
    ]);
  });

  test("no character is cut in half", () => {
    expect(replyParts("👩".repeat(6), 5)).toEqual(["👩👩", "👩👩", "👩👩"]);
  });

  test("nothing is lost but blanks, and no part is too long", () => {
    const piece = fc.constantFrom(
      "word",
      " ",
      "\n",
      "\n\n",
      "`code x`",
      "[a b](https://x.example)",
      "👩",
      "```\n",
      "- ",
      "|",
      ".",
      "```ts\nx y\n```\n",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 200 }), fc.integer({ min: 40, max: 90 }), (pieces, limit) => {
        const parts = replyParts(pieces.join(""), limit);
        const bare = (text: string) => text.replaceAll(/\s|`{3,}(ts)?/g, "");
        expect(bare(parts.join(""))).toBe(bare(pieces.join("")));
        for (const part of parts) {
          expect(part.length).toBeLessThanOrEqual(limit);
          expect(part.isWellFormed()).toBe(true);
          expect(part.trim()).not.toBe("");
        }
      }),
    );
  });

  test.each([
    "[",
    "`",
    "*",
    "\n",
    "a ",
    "```\n",
    "[a](",
    "[a](b) ",
    "> ",
    "\ud83d\ude00",
  ])("a million of %j take no time to speak of", (piece) => {
    const parts = replyParts(piece.repeat(1_000_000 / piece.length), 4000);
    expect(parts.every((part) => part.length <= 4000)).toBe(true);
  });
});
