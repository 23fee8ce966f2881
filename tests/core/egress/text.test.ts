import { expect, test } from "vitest";
import { answerText } from "../../../src/core/egress/text.ts";

const bytes = (...values: number[]) => new Uint8Array(values);
const utf8 = (text: string) => new TextEncoder().encode(text);

test("text is read by its charset, and as UTF-8 without one", () => {
  expect(answerText(utf8("Grüße"), "text/html; charset=utf-8")).toBe("Grüße");
  expect(answerText(utf8("Grüße"), "application/json")).toBe("Grüße");
  expect(answerText(bytes(0x47, 0x72, 0xfc), "text/plain; charset=ISO-8859-1")).toBe("Grü");
  expect(answerText(bytes(0x47, 0x72, 0xfc), 'Text/Plain; Charset="windows-1252"; a=b')).toBe("Grü");
  expect(answerText(bytes(0x93, 0xfa), "text/plain;charset=shift_jis")).toBe("日");
  expect(answerText(bytes(0x41, 0x00), "text/plain;charset=utf-16le")).toBe("A");
  expect(answerText(utf8("\ufeffa"), "text/plain")).toBe("a");
});

test("an unknown charset is read as UTF-8, and invalid bytes are marked", () => {
  expect(answerText(utf8("Grüße"), "text/plain; charset=klingon")).toBe("Grüße");
  expect(answerText(bytes(0x61, 0xff), "text/plain")).toBe("a\ufffd");
  expect(answerText(bytes(0x61, 0xff), "application/problem+json")).toBe("a\ufffd");
});

test("a body whose type doesn't say text is text when it decodes as such", () => {
  expect(answerText(utf8("a,b\n1,2\n"), "application/octet-stream")).toBe("a,b\n1,2\n");
  expect(answerText(utf8("Grüße"), undefined)).toBe("Grüße");
  expect(answerText(utf8("Grüße"), "nonsense")).toBe("Grüße");
  expect(answerText(bytes(), "image/png")).toBe("");
});

test("anything else is said to be binary", () => {
  const png = bytes(0x89, 0x50, 0x4e, 0x47);
  expect(answerText(png, "image/png")).toBe("[binary, 4 bytes, image/png]");
  expect(answerText(png, "IMAGE/PNG; a=b")).toBe("[binary, 4 bytes, image/png]");
  expect(answerText(png, undefined)).toBe("[binary, 4 bytes, unknown type]");
  expect(answerText(png, "image/png] forged [")).toBe("[binary, 4 bytes, unknown type]");
  expect(answerText(bytes(0x61, 0x00), "application/zip")).toBe("[binary, 2 bytes, application/zip]");
  expect(answerText(png, `a/${"b".repeat(500)}`)).toBe(`[binary, 4 bytes, a/${"b".repeat(126)}]`);
});
