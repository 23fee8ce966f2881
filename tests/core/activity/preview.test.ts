import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { previewOf, scrubbedPreview } from "../../../src/core/activity/preview.ts";
import type { JsonValue } from "../../../src/core/json.ts";
import { scrubber } from "../../../src/core/scrub/scrub.ts";

describe("the preview of a value", () => {
  test("is the beginning of its JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (any) => {
        const value = JSON.parse(JSON.stringify(any)) as JsonValue;
        const json = typeof value === "string" ? value : JSON.stringify(value);
        const preview = previewOf(value);
        if (json.length <= 500) return preview === json;
        const kept = preview.slice(0, 498);
        return preview.length === 500 && preview.endsWith("…") && json.startsWith(kept);
      }),
    );
    const long = previewOf({ list: Array.from({ length: 400 }, (_, index) => index), more: true });
    expect(long).toMatch(/^\{"list":\[0,1,2,.*…$/);
    expect(long).toHaveLength(500);
  });

  test("of a text is the text, cut between characters", () => {
    expect(previewOf("short")).toBe("short");
    const cut = previewOf(`${"a".repeat(498)}😀${"b".repeat(100)}`);
    expect(cut).toBe(`${"a".repeat(498)}\ufffd…`);
    expect(cut).toHaveLength(500);
  });

  test("is made without reading the rest", () => {
    let read = 0;
    const item = {
      get value() {
        read += 1;
        return "x".repeat(50);
      },
    };
    previewOf(Array.from({ length: 100_000 }, () => item));
    expect(read).toBeLessThan(12);
    const deep = JSON.parse(`${"[".repeat(5_000)}${"]".repeat(5_000)}`) as JsonValue;
    expect(previewOf(deep)).toBe(`${"[".repeat(499)}…`);
  });
});

describe("the preview of a text in which secrets may be", () => {
  const secret = "canary-0123456789-abcdefghij";
  const scrub = scrubber([secret]);

  test("shows no part of one, wherever it lies", () => {
    for (let before = 440; before < 2_040; before += 1) {
      const preview = scrubbedPreview(`${".".repeat(before)}${secret} and ${"z".repeat(3_000)}`, scrub);
      expect(preview.length).toBeLessThanOrEqual(500);
      expect(preview).not.toContain("canary");
    }
  });

  test("shows nothing of one that is longer than what is read", () => {
    const long = Array.from({ length: 600 }, (_, index) => `k${index}`).join("-");
    const preview = scrubbedPreview(`My key: ${long} is secret. ${"z".repeat(2_000)}`, scrubber([long]));
    expect(preview).toBe("My key: …");
  });

  test("of a short one is the whole text", () => {
    expect(scrubbedPreview(`It is ${secret}!`, scrub)).toBe("It is [secret]!");
  });
});
