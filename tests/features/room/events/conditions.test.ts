import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../../../src/core/json.ts";
import { EventConditions, unmetCondition } from "../../../../src/features/room/events/conditions.ts";
import { valueAt } from "../../../../src/features/room/events/path.ts";

const payload: JsonValue = {
  action: "opened",
  issue: { number: 7, draft: false, assignee: null, labels: [{ name: "bug" }, { name: "ui" }] },
  "data[id]": "9",
  "0": "zero",
  labels: { "app.kubernetes.io/name": "shop", 'a"]b': { c: 1 } },
};
const met = (path: string, equals: string | number | boolean | null, of: JsonValue = payload) =>
  unmetCondition([{ path, equals }], of) === null;

describe("a condition", () => {
  test.each([
    ["action", "opened"],
    ["issue.number", 7],
    ["issue.draft", false],
    ["issue.assignee", null],
    ["issue.labels.1.name", "ui"],
    ["data[id]", "9"],
    ["0", "zero"],
    ['labels["app.kubernetes.io/name"]', "shop"],
    ['["labels"]["a\\"]b"].c', 1],
  ] as const)("%s is %j", (path, equals) => expect(met(path, equals)).toBe(true));

  test.each([
    ["action", "Opened"],
    ["issue.number", "7"],
    ["issue.draft", null],
    ["issue.assignee", false],
    ["issue.missing", null],
    ["issue.labels.2", null],
    ["issue.labels.-1.name", "ui"],
    ["issue.labels.01.name", "ui"],
    ["issue.labels.length", 2],
    ["action.length", 6],
    ["action.0", "o"],
    ["issue.assignee.name", null],
    ["data", null],
  ] as const)("%s is not %j", (path, equals) => expect(met(path, equals)).toBe(false));

  test("sees only what the payload itself holds", () => {
    for (const path of ["__proto__", "constructor.name", "toString.name", "issue.labels.__proto__", "__proto__.x"])
      for (const of of [payload, [], {}, "text", 1, null, true]) expect(valueAt(of, path)).toBeUndefined();
    expect(met("__proto__.admin", true, JSON.parse('{"__proto__":{"admin":true}}'))).toBe(true);
  });

  test("finds each value by its path", () => {
    const key = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom("a.b", 'a["b"]', "a[0]", "\\"));
    const stepTo = (part: string | number) =>
      typeof part === "number" || !/\.|\["/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`;
    fc.assert(
      fc.property(fc.array(fc.oneof(key, fc.nat(3))), fc.string(), (parts, leaf) => {
        const inner = parts.reduceRight<JsonValue>(
          (value, part) =>
            typeof part === "number" ? [...Array<null>(part).fill(null), value] : Object.fromEntries([[part, value]]),
          leaf,
        );
        expect(valueAt({ root: inner }, `root${parts.map(stepTo).join("")}`)).toEqual(leaf);
      }),
    );
  });
});

test("all conditions must hold; the first that does not is reported", () => {
  const [opened, open, ui] = [
    { path: "action", equals: "opened" },
    { path: "issue.draft", equals: true },
    { path: "issue.labels.0.name", equals: "ui" },
  ];
  expect(unmetCondition([], null)).toBeNull();
  expect(unmetCondition([opened], payload)).toBeNull();
  expect(unmetCondition([opened, open, ui], payload)).toBe(open);
});

describe("the shape", () => {
  const problems = (input: unknown) =>
    EventConditions.safeParse(input).error?.issues.map(({ path, message }) => `${path.join(".")} ${message}`) ?? [];

  test("takes texts, numbers, true, false and null", () => {
    const conditions = ["x", 1.5, true, null].map((equals) => ({ path: "a.0.b", equals }));
    expect(EventConditions.parse(conditions)).toEqual(conditions);
  });

  test.each(["", ".", "a.", ".a", "a..b", "a. b", 'a["b"]c', 'a["b', 'a["\\x"]', '.["a"]'])("%j is no path", (path) => {
    expect(problems([{ path, equals: 1 }])).toEqual([
      '0.path must be names and indexes with dots between them, such as issue.labels.0.name or labels["app.kubernetes.io/name"]',
    ]);
  });

  test.each([
    [[{ path: "a" }]],
    [[{ path: "a", equals: {} }]],
    [[{ path: "a", equals: "\u0000" }]],
    [[{ path: "a\ud800", equals: 1 }]],
    [[{ path: "a", equals: "x".repeat(1_001) }]],
    [[{ path: "x".repeat(513), equals: 1 }]],
    [[{ path: "a", equals: Number.POSITIVE_INFINITY }]],
    [Array(21).fill({ path: "a", equals: 1 })],
  ])("%j is refused", (input) => expect(problems(input)).toHaveLength(1));
});
