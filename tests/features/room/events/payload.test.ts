import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { storableJson } from "../../../../src/core/text/text.ts";
import { deepestPayload, mostPayloadBytes, readPayload } from "../../../../src/features/room/events/payload.ts";
import { anyCharacter } from "./characters.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const read = (text: string, type: string | null = "application/json") => readPayload(bytes(text), type);
const form = (text: string) => read(text, "application/x-www-form-urlencoded");
const invalid = { ok: false, error: "invalid payload" };
const unsupported = { ok: false, error: "unsupported content type" };
const tooLarge = { ok: false, error: "payload too large" };

describe("JSON", () => {
  test("any value is legal, and comes as it can be stored", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: anyCharacter }), (value) => {
        fc.pre(!/(?<![\d.])\d{16,}(?![\d.e])/.test(JSON.stringify(value)));
        const result = read(JSON.stringify(value));
        expect(result).toEqual({ ok: true, payload: JSON.parse(storableJson(value)) });
      }),
    );
  });

  test.each([
    "",
    " ",
    "{",
    "[1,]",
    "{'a':1}",
    "undefined",
    "NaN",
    "a=1",
    "1 2",
    "\u0000",
    '"\n"',
    "<x/>",
  ])("%j is an invalid payload", (text) => expect(read(text)).toEqual(invalid));

  test("NUL, half surrogates and numbers that JSON can't write are made storable", () => {
    const text = String.raw`{"a\u0000":"x\u0000y","b":"\ud800","\udfff":[1e999,-1e999]}`;
    expect(read(text)).toEqual({ ok: true, payload: { a: "xy", b: "\ufffd", "\ufffd": [null, null] } });
  });

  test("a whole number that would lose digits becomes a text; others stay numbers", () => {
    const text = `{"id":820982911946154508,"safe":[9007199254740991,-9007199254740991],"beyond":[9007199254740992,-${"9".repeat(400)}],"other":[1.5,1e20,-0,12345678901234567.5]}`;
    const payload = {
      id: "820982911946154508",
      safe: [9007199254740991, -9007199254740991],
      beyond: ["9007199254740992", `-${"9".repeat(400)}`],
      other: [1.5, 1e20, 0, 12345678901234568],
    };
    expect(read(text)).toEqual({ ok: true, payload });
  });

  test("each value is looked at only where a number may lose digits: that takes far longer than to parse them", () => {
    const parse = vi.spyOn(JSON, "parse");
    onTestFinished(() => parse.mockRestore());
    const looked = (text: string) => {
      parse.mockClear();
      read(text);
      return parse.mock.calls.some(([, reviver]) => reviver);
    };
    expect(looked('{"id":820982911946154,"price":1.5}')).toBe(false);
    expect(looked('{"id":8209829119461545}')).toBe(true);
  });

  test("`__proto__` is a field like any other", () => {
    for (const text of ['{"__proto__":{"admin":true}}', String.raw`{"__proto__":{"admin":true},"n":"\u0000"}`]) {
      const result = read(text);
      const payload = result.ok ? result.payload : null;
      expect(Object.keys(payload ?? {})[0]).toBe("__proto__");
      expect(Object.getPrototypeOf(payload)).toBe(Object.prototype);
    }
    expect(Object.hasOwn(Object.prototype, "admin")).toBe(false);
  });

  test("a byte order mark, another charset and broken UTF-8 don't lose an event", () => {
    expect(read("\ufeff[1]")).toEqual({ ok: true, payload: [1] });
    const latin = new Uint8Array([0x22, 0xec, 0x22]);
    expect(readPayload(latin, "application/json; charset=ISO-8859-1")).toEqual({ ok: true, payload: "ì" });
    expect(readPayload(latin, "application/json; charset=none")).toEqual({ ok: true, payload: "\ufffd" });
  });

  test("nesting ends before it exhausts a stack", () => {
    const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
    expect(read(nested(deepestPayload))).toMatchObject({ ok: true });
    for (const text of [
      nested(deepestPayload + 1),
      nested(mostPayloadBytes / 2),
      "[".repeat(mostPayloadBytes),
      `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`,
    ]) {
      expect(read(text)).toEqual(invalid);
    }
  });
});

describe("a form", () => {
  test("becomes an object of strings, of lists where a field is repeated", () => {
    expect(form("a=1&b=x+y%21&a=2&c&d[e]=%C3%AC&a=")).toEqual({
      ok: true,
      payload: { a: ["1", "2", ""], b: "x y!", c: "", "d[e]": "ì" },
    });
    expect(form("")).toEqual({ ok: true, payload: {} });
  });

  test.each([
    ["; charset=windows-1252", "Jos%E9=%80+a%20b&c"],
    ['; charset="ISO-8859-1"', "Jos%e9=%80+a%20b&&c="],
    ["; charset=utf-8", "Jos%C3%A9=%E2%82%AC+a+b&c"],
    ["; charset=none", "Jos%C3%A9=%E2%82%AC+a+b&c"],
  ])("is read in the charset of its type: %j", (charset, text) => {
    const payload = { José: "€ a b", c: "" };
    expect(read(text, `application/x-www-form-urlencoded${charset}`)).toEqual({ ok: true, payload });
  });

  test("in UTF-16 has its percent signs in UTF-8", () => {
    const body = new Uint8Array(Buffer.from("a=%C3%A9", "utf16le"));
    const type = "application/x-www-form-urlencoded; charset=utf-16";
    expect(readPayload(body, type)).toEqual({ ok: true, payload: { a: "é" } });
  });

  test("has no field that is more than a field", () => {
    const result = form("__proto__=1&__proto__=2&constructor=3&length=4&a%00=5&a=6%00&%ff=7");
    const payload = result.ok ? result.payload : null;
    expect(Object.entries(payload ?? {})).toEqual([
      ["__proto__", ["1", "2"]],
      ["constructor", "3"],
      ["length", "4"],
      ["a", ["5", "6"]],
      ["\ufffd", "7"],
    ]);
  });

  test("is read whatever it holds, and can be stored", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ unit: anyCharacter }), fc.string({ unit: anyCharacter }))),
        (fields) => {
          const result = form(new URLSearchParams(fields).toString());
          expect(result.ok && JSON.stringify(result.payload)).toBe(result.ok && storableJson(result.payload));
        },
      ),
    );
  });
});

describe("the order of failures", () => {
  test("counts raw bytes, before the content type", () => {
    const text = `"${"ì".repeat(mostPayloadBytes / 2 - 1)}"`;
    expect(read(text)).toMatchObject({ ok: true });
    expect(read(`${text} `)).toEqual(tooLarge);
    expect(read("{".repeat(mostPayloadBytes + 1), "text/plain")).toEqual(tooLarge);
  });

  test.each([
    null,
    "",
    "text/plain",
    "text/json",
    "application/jsonp",
    "multipart/form-data",
    "application/x-json;",
  ])("%j is no content type for it, even before the body is looked at", (type) =>
    expect(read("{", type)).toEqual(unsupported));

  test.each([
    "application/json",
    " Application/JSON ; charset=utf-8",
    'application/json;charset="utf-8"',
  ])("%j is one", (type) => expect(read("{}", type)).toEqual({ ok: true, payload: {} }));
});

test("any bytes give a payload or a failure", () => {
  const types = fc.constantFrom("application/json", "application/x-www-form-urlencoded; charset=utf-16", null);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), types, (body, type) => {
      const result = readPayload(body, type);
      if (result.ok) expect(JSON.stringify(result.payload)).toBe(storableJson(result.payload));
      else expect(type === null ? unsupported : invalid).toEqual(result);
    }),
  );
});
