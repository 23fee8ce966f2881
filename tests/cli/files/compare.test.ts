import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compare } from "../../../src/cli/apply/compare.ts";
import { diffLines, unifiedDiff } from "../../../src/cli/apply/line-diff.ts";
import { describeField, plain } from "../../../src/cli/apply/show.ts";
import { readDocuments } from "../../../src/cli/files/documents.ts";
import { renderSkill } from "../../../src/cli/pull/render.ts";

describe("a diff of lines", () => {
  const lines = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 12 });

  test("changes one text into the other with the fewest lines", () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const diff = diffLines(before, after);
        const side = (sign: string) => diff.flatMap(({ kind, text }) => (kind === " " || kind === sign ? [text] : []));
        expect(side("-")).toEqual(before);
        expect(side("+")).toEqual(after);
        expect(diff.filter(({ kind }) => kind === " ")).toHaveLength(longestCommon(before, after));
      }),
    );
  });

  test("shows the lines around a change, and its position", () => {
    const before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    expect(unifiedDiff(before, before.replace("2", "two").replace("9\n", "nine"))).toEqual([
      ...["@@ -1 +1 @@", " 1", "-2", "+two", " 3", " 4"],
      ...["@@ -7 +7 @@", " 7", " 8", "-9", "+nine", "+\\ No line break at the end"],
    ]);
    expect(unifiedDiff("same", "same\n")).toContain("-\\ No line break at the end");
  });

  test("compares two long texts with nothing in common quickly", () => {
    const text = (name: string) => Array.from({ length: 20_000 }, (_, at) => `${name} ${at}`);
    expect(diffLines(text("a"), text("b"))).toHaveLength(40_000);
  });

  function longestCommon(a: readonly string[], b: readonly string[]): number {
    const [first, ...rest] = a;
    if (first === undefined || b.length === 0) return 0;
    let row = Array.from({ length: b.length + 1 }, () => 0);
    for (const one of [first, ...rest]) {
      const next = [0];
      for (const [at, other] of b.entries()) {
        next.push(one === other ? (row[at] ?? 0) + 1 : Math.max(row[at + 1] ?? 0, next[at] ?? 0));
      }
      row = next;
    }
    return row.at(-1) ?? 0;
  }
});

describe("a comparison", () => {
  test("identifies entries by their names, and ignores orders without meaning", () => {
    const before = {
      maxSteps: 16,
      manualTools: ["b", "a"],
      prompts: [
        { key: "02-soul", content: "a" },
        { key: "04-safety", content: "b" },
      ],
      hooks: [{ event: "x", actionConfig: { args: { url: "u", gone: 1 } } }],
      scheduledTasks: [
        { name: "twice", prompt: "a" },
        { name: "twice", prompt: "b" },
      ],
    };
    expect(compare(before, { ...before, manualTools: ["a", "b"], prompts: before.prompts.toReversed() })).toEqual([]);
    const after = {
      maxSteps: 8,
      manualTools: ["a", "c"],
      toolsNeedingApproval: undefined,
      prompts: [
        { key: "02-soul", content: "new" },
        { key: "06-memory", content: "c" },
      ],
      hooks: [{ event: "x", actionConfig: { args: { url: "u" } } }],
      scheduledTasks: [{ name: "twice", prompt: "a" }],
    };
    expect(compare(before, after)).toEqual([
      { path: "maxSteps", before: 16, after: 8 },
      { path: "manualTools", before: "b" },
      { path: "manualTools", after: "c" },
      { path: "prompts[04-safety]", before: { key: "04-safety", content: "b" } },
      { path: "prompts[02-soul].content", before: "a", after: "new" },
      { path: "prompts[06-memory]", after: { key: "06-memory", content: "c" } },
      { path: "hooks[0].actionConfig.args.gone", before: 1 },
      { path: "scheduledTasks[twice 2]", before: { name: "twice", prompt: "b" } },
    ]);
  });

  test("notices when a field appears or disappears that every object inherits", () => {
    const [without, having] = [{ args: {} }, { args: { constructor: "x", toString: 1 } }];
    expect(compare(without, having)).toEqual([
      { path: "args.constructor", after: "x" },
      { path: "args.toString", after: 1 },
    ]);
    expect(compare(having, without)).toEqual([
      { path: "args.constructor", before: "x" },
      { path: "args.toString", before: 1 },
    ]);
    expect(compare(having, structuredClone(having))).toEqual([]);
  });

  test("is shown without bytes of pictures, and without what controls a terminal", () => {
    const picture = `data:image/png;base64,${"A".repeat(4096)}`;
    expect(describeField({ path: "icon", before: null, after: picture }, plain)).toEqual([
      '    ~ icon: null → "picture of 3 KiB"',
    ]);
    const evil = "\u001b[2Jgone\u0007";
    expect(describeField({ path: evil, before: evil, after: "b" }, plain).join("")).not.toMatch(/(?!\n)\p{Cc}/u);
    expect(describeField({ path: "content", after: `${evil}\nb\n` }, plain)).toEqual([
      "    + content",
      "        +[2Jgone",
      "        +b",
    ]);
  });
});

test("a written file is read as the same, whatever its texts contain", () => {
  const text = fc.oneof(
    fc.string({ maxLength: 40 }),
    fc
      .array(
        fc.constantFrom(
          " ",
          "\n",
          "\t",
          "a",
          ":",
          "#",
          "'",
          '"',
          "|",
          "-",
          "{",
          "\r",
          "\u0085",
          "\u2028",
          "\u0000",
          "\u00e9",
          "\u{1fad6}",
          "---",
          "...",
        ),
        {
          maxLength: 30,
        },
      )
      .map((list) => list.join("")),
  );
  fc.assert(
    fc.property(text, text, (description, content) => {
      const skill = {
        name: "1.0",
        description,
        category: "yes",
        requiredEnv: [],
        requiredTools: ["null"],
        content,
        scripts: [],
      };
      const { documents, problems } = readDocuments("a.yaml", renderSkill(skill));
      expect(problems).toEqual([]);
      const { requiredEnv, scripts, ...kept } = skill;
      expect(documents[0]?.value).toEqual({ type: "skill", ...kept });
    }),
    { numRuns: 100 },
  );
});
