import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scrubbed, scrubber } from "../../src/core/scrub.ts";

const secret = "sk-Zürich/9+?&\"x'<y> end";
const url = new URLSearchParams({ key: secret }).toString().slice("key=".length);

describe("a known secret is blotted out", () => {
  const forms: Record<string, string> = {
    "as it is": secret,
    "in an address": encodeURIComponent(secret),
    "in a form": url,
    "in lower-case percents": encodeURIComponent(secret).replaceAll(/%../g, (code) => code.toLowerCase()),
    "in JSON": JSON.stringify(secret).slice(1, -1),
    "in PHP's JSON": JSON.stringify(secret).slice(1, -1).replaceAll("/", "\\/"),
    "in ASCII JSON": JSON.stringify(secret).slice(1, -1).replaceAll("ü", "\\u00fc"),
    "in HTML": "sk-Zürich/9+?&amp;&quot;x&#39;&lt;y&gt; end",
    "in hexadecimal": Buffer.from(secret).toString("hex"),
    "in upper-case hexadecimal": Buffer.from(secret).toString("hex").toUpperCase(),
  };
  const scrub = scrubber([secret]);
  test.each(Object.entries(forms))("%s", (_, form) => {
    expect(scrub(`before ${form} after`)).toBe(`before ${scrubbed} after`);
  });

  test.each(["", "a", "ab", "user:"])("in base64 behind %j", (prefix) => {
    for (const encoding of ["base64", "base64url"] as const) {
      for (const suffix of ["", "z", "zz"]) {
        const encoded = Buffer.from(prefix + secret + suffix).toString(encoding);
        const clean = scrub(encoded);
        expect(clean).toContain(scrubbed);
        // What is left is too short to tell more than a character at each end.
        expect(clean.length).toBeLessThanOrEqual(scrubbed.length + 12);
      }
    }
  });
});

test("nothing known, and short words, change nothing", () => {
  expect(scrubber([])("abc")).toBe("abc");
  expect(scrubber(["abcde"])("abcde")).toBe("abcde");
});

test("a secret in another, and two that overlap, leave no part", () => {
  expect(scrubber(["inner-secret", "my-inner-secret-too"])("x my-inner-secret-too y")).toBe(`x ${scrubbed} y`);
  expect(scrubber(["abcdefgh", "efghijkl"])("--abcdefghijkl--")).toBe(`--${scrubbed}--`);
  expect(scrubber(["abcdefgh", "efghijkl"])("--abcdefgh--efghijkl")).toBe(`--${scrubbed}--${scrubbed}`);
});

test("in pieces no secret is said either, however it is cut, and nothing else is lost", () => {
  const secrets = ["aabaab", "abaaba", "secret-1", "secret-12", "t-1secre"];
  const scrub = scrubber(secrets);
  const word = fc.oneof(fc.constantFrom(...secrets, "a", "b", "sec", "ret-", "1", "2"), fc.string({ maxLength: 4 }));
  fc.assert(
    fc.property(fc.array(word, { maxLength: 12 }), fc.array(fc.nat(40), { maxLength: 8 }), (words, cuts) => {
      const text = words.join("");
      const stream = scrub.stream();
      let said = "";
      let from = 0;
      for (const cut of [...cuts.map((at) => Math.min(at, text.length)).sort((a, b) => a - b), text.length]) {
        said += stream.push(text.slice(from, cut));
        for (const secret of secrets) expect(said).not.toContain(secret);
        from = cut;
      }
      said += stream.end();
      // Two characters of a secret may stand before its mark.
      const marks = said.split(scrubbed).length - 1;
      if (marks === 0) expect(said).toBe(text);
      expect(said.length).toBeLessThanOrEqual(scrub(text).length + 2 * marks);
      for (const secret of secrets) expect(said).not.toContain(secret);
    }),
    { numRuns: 500 },
  );
});

test("what can't be the beginning of a secret is said at once", () => {
  const stream = scrubber(["sk-123456"]).stream();
  expect(stream.push("The key is s")).toBe("The key is s");
  expect(stream.push("imple: sk-")).toBe("imple: ");
  expect(stream.push("123")).toBe("");
  expect(stream.push("456")).toBe("");
  expect(stream.push(".")).toBe(`${scrubbed}.`);
  expect(stream.end()).toBe("");
});
