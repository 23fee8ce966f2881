import { describe, expect, test } from "vitest";
import { limitLog } from "../../src/adapters/node/scripts/log-limit.ts";
import { resolveImport } from "../../src/adapters/node/scripts/modules.ts";

describe("a script's imports", () => {
  const files = new Map(["main.js", "a.js", "lib/b.js", "lib/deep/c.js"].map((file) => [file, ""]));

  test.each([
    ["main.js", "./a.js", "a.js"],
    ["main.js", "./lib/b.js", "lib/b.js"],
    ["main.js", ".//lib/./b.js", "lib/b.js"],
    ["lib/b.js", "./deep/c.js", "lib/deep/c.js"],
    ["lib/b.js", "../a.js", "a.js"],
    ["lib/deep/c.js", "../../lib/b.js", "lib/b.js"],
    // Code made by eval and Function is in no file.
    ["<input>", "./a.js", "a.js"],
  ])("in %s, %s is %s", (importer, request, file) => {
    expect(resolveImport(importer, request, files)).toEqual({ file });
  });

  test.each([
    ["main.js", "a.js"],
    ["main.js", "/a.js"],
    ["main.js", "fs"],
    ["main.js", ""],
    ["main.js", ".a.js"],
    ["main.js", "../a.js"],
    ["lib/b.js", "../../a.js"],
    ["main.js", "./lib"],
    ["main.js", "./"],
    ["main.js", "./toString"],
  ])("in %s, %j is refused", (importer, request) => {
    expect(resolveImport(importer, request, files)).toEqual({
      refused: expect.stringContaining(`${importer} cannot import ${JSON.stringify(request)}: `),
    });
  });
});

describe("how much a script may log", () => {
  const cut = "[cut: of a log, the first 64 KiB and 1,000 lines are kept]";
  const logOf = (...texts: string[]) => {
    const written: string[] = [];
    const write = limitLog((text) => void written.push(text));
    for (const text of texts) write(text);
    return written;
  };
  const kib = 1024;

  test("all of it, up to both limits", () => {
    expect(logOf("", "a", "")).toEqual(["", "a", ""]);
    expect(logOf(...Array(1_000).fill("a"))).toEqual(Array(1_000).fill("a"));
    expect(logOf("a".repeat(64 * kib), "", "")).toEqual(["a".repeat(64 * kib), "", ""]);
  });

  test("then one note, whatever follows", () => {
    expect(logOf(...Array(1_005).fill("a"))).toEqual([...Array(1_000).fill("a"), cut]);
    expect(logOf("a".repeat(64 * kib), "b", "", "c")).toEqual(["a".repeat(64 * kib), cut]);
    expect(logOf("a".repeat(63 * kib), "b".repeat(2 * kib), "c")).toEqual(["a".repeat(63 * kib), "b".repeat(kib), cut]);
  });

  test("no half a character", () => {
    expect(logOf("a".repeat(64 * kib - 3), "🙂")).toEqual(["a".repeat(64 * kib - 3), "", cut]);
    expect(logOf("🙂".repeat(20 * kib))).toEqual(["🙂".repeat(16 * kib), cut]);
  });
});
