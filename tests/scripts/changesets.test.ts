import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  breakingBump,
  type Changeset,
  parseChangeset,
  readChangesets,
  unannounced,
} from "../../scripts/api-changes/changesets.ts";

const breaking = { breaking: true, subject: "GET /health", text: "GET /health: is gone" };
const harmless = { ...breaking, breaking: false };

const left = (version: string, ...changesets: Changeset[]) => unannounced([breaking], changesets, version).length;

describe("a breaking change", () => {
  const text = "Takes `GET /health` away; ask `GET /` instead.";
  test.each<[string, Changeset[], number]>([
    ["0.4.1", [], 1],
    ["0.4.1", [{ bump: "minor", text }], 0],
    ["0.4.1", [{ bump: "major", text }], 0],
    ["0.4.1", [{ bump: "patch", text }], 1],
    ["0.4.1", [{ bump: "none", text }], 1],
    ["1.0.0", [{ bump: "minor", text }], 1],
    ["1.0.0", [{ bump: "major", text }], 0],
    ["10.2.0", [{ bump: "minor", text }], 1],
    // It has to be the bump for that change.
    ["0.4.1", [{ bump: "minor", text: "Takes `GET /health/scheduler` away." }], 1],
    ["0.4.1", [{ bump: "minor", text: "Says more of GET /health." }], 1],
    [
      "0.4.1",
      [
        { bump: "patch", text },
        { bump: "minor", text: "Adds tea." },
      ],
      1,
    ],
  ])("after %s with %j: %i left", (version, changesets, expected) => {
    expect(left(version, ...changesets)).toBe(expected);
  });
});

test("a compatible change needs no changeset", () => {
  expect(unannounced([harmless], [], "0.1.0")).toEqual([]);
});

test("before 1.0 the second number says that something breaks", () => {
  expect(["0.1.0", "0.12.3", "1.0.0", "2.3.4"].map(breakingBump)).toEqual(["minor", "minor", "major", "major"]);
});

describe("a changeset", () => {
  test("has the bump of this package and a text", () => {
    expect(parseChangeset('---\n"tea": minor\n---\n\nAdds **tea**.\n\n---\n\nAnd cups.\n', "tea")).toEqual({
      bump: "minor",
      text: "Adds **tea**.\n\n---\n\nAnd cups.",
    });
    expect(parseChangeset("---\r\ntea: major\r\n---\r\nTea.\r\n", "tea")).toEqual({ bump: "major", text: "Tea." });
  });

  test("may be of another package, or of none", () => {
    expect(parseChangeset("---\ncoffee: major\n---\nCoffee.", "tea").bump).toBe("none");
    expect(parseChangeset("---\n---\n", "tea")).toEqual({ bump: "none", text: "" });
  });

  test("without its head is an error", () => {
    expect(() => parseChangeset("Adds tea.", "tea")).toThrow("This is no changeset");
  });
});

test("changesets are the folder's Markdown files, but for its README", () => {
  const folder = mkdtempSync(join(tmpdir(), "changesets-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = (name: string, source: string) => writeFileSync(join(folder, name), source);
  write("README.md", "How to.");
  write("config.json", "{}");
  write("brown-cups-sing.md", "---\ntea: patch\n---\nTea.");
  expect(readChangesets(folder, "tea")).toEqual([{ bump: "patch", text: "Tea." }]);
});
