import { expect, onTestFinished, test, vi } from "vitest";
import { digest, isUuid, newId } from "../../src/core/ids.ts";

test("an id is a UUID, in either case", () => {
  const id = newId();
  expect(isUuid(id)).toBe(true);
  expect(isUuid(id.toUpperCase())).toBe(true);
});

test("ids sort as they were made, also those of one millisecond and of a clock that went back", () => {
  vi.useFakeTimers({ now: 1_700_000_000_000, toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const ids = Array.from({ length: 1000 }, (_, index) => {
    vi.setSystemTime(1_700_000_000_000 + ([0, 5, 3][index % 3] ?? 0) + Math.floor(index / 300) * 10);
    return newId();
  });
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.toSorted()).toEqual(ids);
});

test("no two ids share their randomness", () => {
  const ids = Array.from({ length: 1000 }, () => newId().slice(-12));
  expect(new Set(ids).size).toBe(ids.length);
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

test("a digest is the SHA-256 that WebCrypto gives, also where many are asked for at once", async () => {
  const texts = [
    "",
    "abc",
    "ä€😀",
    "\ud800",
    "x".repeat(100_000),
    ...Array.from({ length: 50 }, (_, n) => `token ${n}`),
  ];
  const expected = texts.map((text) => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  const digests = await Promise.all(texts.map(digest));
  expect(digests).toEqual((await Promise.all(expected)).map((bytes) => new Uint8Array(bytes)));
});
