import { expect, test } from "vitest";
import { documentText, type Fate, withFileWords } from "../../../src/features/inbox/answer/file-words.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);
const stored = (id: string, mime: string, more: Partial<Extract<Fate, { kind: "stored" }>> = {}): Fate => ({
  kind: "stored",
  id,
  mime,
  size: 10,
  ...more,
});

test("documents of plain text are read, other files and other encodings are not", () => {
  const whole = { text: "a,b", isWhole: true };
  for (const mime of ["text/plain", "text/markdown", "text/csv", "application/json"]) {
    expect(documentText(utf8("a,b"), mime)).toEqual(whole);
  }
  for (const mime of ["text/html", "application/pdf", "image/svg+xml", "audio/ogg"]) {
    expect(documentText(utf8("a,b"), mime)).toBeNull();
  }
  expect(documentText(new Uint8Array([0xff, 0xfe, 0x61]), "text/plain")).toBeNull();
  expect(documentText(utf8("a\u0000b"), "text/plain")).toBeNull();
  expect(documentText(utf8("\ufeffa"), "text/plain")).toEqual({ text: "a", isWhole: true });
});

test("a long document is cut between characters", () => {
  const exact = "é".repeat(32_000);
  expect(documentText(utf8(exact), "text/plain")).toEqual({ text: exact, isWhole: true });
  // A character of four bytes crosses the end of the part that is read.
  for (const before of ["", "a", "ab", "abc"]) {
    const read = documentText(utf8(before + "🙂".repeat(40_000)), "text/plain");
    expect(read?.isWhole).toBe(false);
    expect(read?.text.isWellFormed()).toBe(true);
    expect(read?.text.length).toBeLessThanOrEqual(32_000);
    expect(read?.text.length).toBeGreaterThan(31_990);
  }
});

test("documents share what a turn has room for, in the order in which they came", () => {
  const file = (name: string, length: number) => ({
    name,
    mime: "text/plain",
    fate: stored(name, "text/plain", { document: { text: "x".repeat(length), isWhole: length < 32_000 } }),
  });
  const [first = "", second = ""] = withFileWords([
    { text: "", files: [file("1.txt", 32_000), file("2.txt", 32_000)] },
    { text: "", files: [file("3.txt", 31_999), file("4.txt", 2), file("5.txt", 1)] },
  ]);
  expect(first).toContain("[The document 1.txt is long and begins:]\nxxx");
  expect(second).toContain("[The document 3.txt says:]\nxxx");
  expect(second).toContain("[The document 4.txt came, but it is too long to be read with the others.]");
  expect(second).toContain("[The document 5.txt says:]\nx\n[The end of 5.txt.]");
});

test("a picture that the model does not get is not promised", () => {
  const files = [
    { name: "huge.png", mime: "image/png", fate: stored("huge", "image/png", { size: 5 * 1024 * 1024 + 1 }) },
    { name: "drawing.svg", mime: "image/svg+xml", fate: stored("svg", "application/octet-stream") },
    ...Array.from({ length: 9 }, (_, at) => ({
      name: `${at}.png`,
      mime: "image/png",
      fate: stored(`p${at}`, "image/png"),
    })),
  ];
  const [text = ""] = withFileWords([{ text: "", files }]);
  expect(text.split("\n\n")).toEqual([
    "[A picture came: huge.png. You can't see it.]",
    "[A file came: drawing.svg. You can't read it.]",
    ...Array.from({ length: 8 }, (_, at) => `[A picture came: ${at}.png.]`),
    "[A picture came: 8.png. You can't see it.]",
  ]);
});

test("a name that steers the text around it is shown without that", () => {
  const files = [{ name: "../a\n]\u202e[b.pdf", mime: "application/pdf", fate: stored("a", "application/pdf") }];
  expect(withFileWords([{ text: "Hi", files }])).toEqual(["Hi\n\n[A file came: a][b.pdf. You can't read it.]"]);
});

test("messages without files stay as they are", () => {
  expect(withFileWords([{ text: "Hi", files: [] }])).toEqual(["Hi"]);
});
