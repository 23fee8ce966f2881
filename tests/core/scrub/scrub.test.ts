import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lineForms } from "../../../src/core/scrub/encoded-forms.ts";
import { scrubbed, scrubber } from "../../../src/core/scrub/scrub.ts";
import { processorTime } from "../../processor-time.ts";

const secret = "sk-Zürich/9+?&=\"x'<y> end";
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
    "in Python's quote": encodeURIComponent(secret).replaceAll("%2F", "/").replaceAll("'", "%27"),
    "in a whole address": encodeURI(secret),
    "in Gson's JSON": 'sk-Zürich/9+?\\u0026\\u003d\\"x\\u0027\\u003cy\\u003e end',
    "in Go's JSON": "sk-Zürich/9+?\\u0026=\\\"x'\\u003cy\\u003e end",
    "in Handlebars": "sk-Zürich/9+?&amp;&#x3D;&quot;x&#x27;&lt;y&gt; end",
    "in HTML": "sk-Zürich/9+?&amp;=&quot;x&#39;&lt;y&gt; end",
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
        // The rest is too short to reveal more than a character at each end.
        expect(clean.length).toBeLessThanOrEqual(scrubbed.length + 12);
      }
    }
  });
});

const pem = [
  "-----BEGIN PRIVATE KEY-----",
  "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj",
  "MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu",
  "QG9w0BAQEFAASCBK=",
  "-----END PRIVATE KEY-----",
];

describe("a secret as it was pasted", () => {
  test.each([" sk-123456", "sk-123456\n", "\tsk-123456 "])("is found without the blanks of %j", (pasted) => {
    expect(scrubber([pasted])("Bearer sk-123456.")).toBe(`Bearer ${scrubbed}.`);
  });

  test.each(["\n", "\r\n", "\\n"])("is found by its lines, broken by %j", (lineBreak) => {
    const scrub = scrubber([pem.join(lineBreak)]);
    const [first = "", , , , last = ""] = pem;
    expect(pem.map((line) => scrub(line))).toEqual([first, scrubbed, scrubbed, scrubbed, last]);
    expect(scrub(`<${pem.join(lineBreak)}>`)).toBe(`<${scrubbed}>`);
  });

  test.each([64, 76])("is found in base64 of %d columns", (width) => {
    const secret = pem.join("\n");
    const lines = btoa(`${secret}\n`).match(new RegExp(`.{1,${width}}`, "g")) ?? [];
    const clean = scrubber([secret])(lines.join("\n"));
    for (const line of lines) expect(clean).not.toContain(line.slice(0, 12));
  });

  test.each(["\\r\\n", "\\n", "\r\n"])("is found encoded with real line breaks, stored with %j", (lineBreak) => {
    const scrub = scrubber([` ${pem.join(lineBreak)}${lineBreak}`]);
    const key = pem.join("\n");
    for (const form of [key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1)]) {
      expect(scrub(`<${form}>`)).toBe(`<${scrubbed}>`);
    }
    expect(scrub(btoa(`xy${key}\n`)).length).toBeLessThan(scrubbed.length + 12);
  });

  test("has no lines where a backslash is only followed by an n", () => {
    const scrub = scrubber(["CORP\\nadministrator"]);
    expect(scrub("Ask your administrator.")).toBe("Ask your administrator.");
  });

  test("is found by its lines in an address, in JSON and in base64", () => {
    const line = 'a "quoted" line+';
    const scrub = scrubber([`first line\n${line}`]);
    const json = JSON.stringify(line).slice(1, -1);
    for (const form of [encodeURIComponent(line), json, JSON.stringify(json).slice(1, -1), btoa(line).slice(0, 21)]) {
      expect(scrub(`<${form}>`)).toBe(`<${scrubbed}>`);
    }
  });

  test("costs few forms for each of its lines", () => {
    // In all forms, the lines of many keys would block the process for a second.
    expect(lineForms(secret).size).toBe(5);
  });

  test("is none without enough of it beside blanks", () => {
    const text = "a      b abc\n\n\n\n 616263";
    expect(scrubber(["      ", "abc\n\n\n\n", "abc\\n\\n"])(text)).toBe(text);
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

/** Whether a text is another one with parts left out. */
function isWithin(part: string, whole: string): boolean {
  let at = 0;
  for (const char of whole) if (char === part[at]) at += 1;
  return at === part.length;
}

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
      said += stream.flush();
      const rest = said.replaceAll(scrubbed, "");
      if (rest === said) expect(said).toBe(text);
      expect(isWithin(rest, text)).toBe(true);
      for (const secret of secrets) expect(said).not.toContain(secret);
    }),
    { numRuns: 500 },
  );
});

test("text that can't begin a secret is released at once", () => {
  const stream = scrubber(["sk-123456"]).stream();
  expect(stream.push("The key is s")).toBe("The key is s");
  expect(stream.push("imple: sk-")).toBe("imple: ");
  expect(stream.push("123")).toBe("");
  expect(stream.push("456")).toBe("");
  expect(stream.push(".")).toBe(`${scrubbed}.`);
  expect(stream.flush()).toBe("");
});

test("a secret that continues after a flush is still recognised", () => {
  const stream = scrubber(["top-secret-value"]).stream();
  expect(stream.push("see top-sec") + stream.flush()).toBe("see top-sec");
  expect(stream.push("ret-value!") + stream.flush()).toBe(`${scrubbed}!`);
  expect(stream.push("top-sec") + stream.flush() + stream.push("ond")).toBe("top-second");
});

/** Every occurrence of every secret, overlapping ones merged: slow, and plainly right. */
function blotted(text: string, secrets: readonly string[]): string {
  const hidden = new Set<number>();
  const seams = new Set<number>();
  for (let at = 0; at < text.length; at += 1) {
    for (const secret of secrets) {
      if (!text.startsWith(secret, at)) continue;
      for (let index = at; index < at + secret.length; index += 1) hidden.add(index);
      for (let index = at + 1; index < at + secret.length; index += 1) seams.add(index);
    }
  }
  let clean = "";
  for (let at = 0; at < text.length; at += 1) {
    if (!hidden.has(at)) clean += text[at];
    else if (!seams.has(at)) clean += scrubbed;
  }
  return clean;
}

describe("secrets longer than the automaton knows", () => {
  const start = "-----BEGIN PRIVATE KEY-----MIIEvQ";
  const long = [`${start}${"xy".repeat(10)}`, `${start}${"xy".repeat(10)}z!`, `${"ab".repeat(30)}c`, "a".repeat(50)];
  const secrets = [...long, `${start}${start}`, "xyxyz!", "Q-----"];

  test("are found wherever they repeat, overlap and contain each other, in pieces as in the whole", () => {
    const scrub = scrubber(secrets);
    const parts = [...secrets, start, "ab", "xy", "a".repeat(20), "ab".repeat(20), "c", "z!", "-----", " "];
    const cuts = fc.array(fc.nat(400), { maxLength: 8 });
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 12 }), cuts, (words, places) => {
        const text = words.join("");
        expect(scrub(text)).toBe(blotted(text, secrets));
        const stream = scrub.stream();
        let [said, from] = ["", 0];
        for (const cut of [...places.map((at) => Math.min(at, text.length)).sort((a, b) => a - b), text.length]) {
          said += stream.push(text.slice(from, cut));
          from = cut;
        }
        said += stream.flush();
        for (const secret of secrets) expect(said).not.toContain(secret);
        const marks = said.split(scrubbed).length - 1;
        expect(marks).toBe(scrub(text).split(scrubbed).length - 1);
        expect(said.length).toBeLessThanOrEqual(scrub(text).length + 2 * marks);
      }),
      { numRuns: 500 },
    );
  });

  test("are held back while they continue, and released when they don't", () => {
    const stream = scrubber(long).stream();
    expect(stream.push(`see ${start}xyx`)).toBe("see ");
    expect(stream.push("yxy")).toBe("");
    expect(stream.push("? ")).toBe(`${start}xyxyxy? `);
    expect(stream.push(long[0] ?? "")).toBe("");
    expect(stream.push(".") + stream.flush()).toBe(`${scrubbed}.`);
  });

  test("cost little, however many and however long", () => {
    const many = Array.from({ length: 24 }, (_, index) => `${index}-${"0123456789abcdef".repeat(511)}`);
    const taken = processorTime();
    const scrub = scrubber(many);
    expect(scrub(`${"word ".repeat(200_000)}${many[7]}`)).toBe(`${"word ".repeat(200_000)}${scrubbed}`);
    // It took more than four seconds when every character was a state.
    expect(taken()).toBeLessThan(1500);
  });
});

test("the text held back doesn't release half of a secret before it", () => {
  const stream = scrubber(["abcdefgh", "gh-----secret-----", "secret"]).stream();
  expect(stream.push("abcdefgh-----secret")).toBe("");
  expect(stream.push("?") + stream.flush()).toBe(`${scrubbed}-----${scrubbed}?`);
});
