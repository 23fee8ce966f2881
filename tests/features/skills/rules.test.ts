import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  compareVersions,
  isSkillSlug,
  nextVersion,
  planImport,
  slugOf,
  versionPattern,
} from "../../../src/features/skills/rules.ts";

describe("the slug of a skill", () => {
  it("is the name in lower case, with one dash for each other character", () => {
    const cases: [string, string][] = [
      ["My Skill!", "my-skill-"],
      ["  a  ", "--a--"],
      ["a--b_c.d", "a--b-c-d"],
      ["Größe", "gr--e"],
      ["🙂x", "-x"],
      ["İ", "i-"],
      ["---", "---"],
      ["catalog", "catalog"],
    ];
    for (const [name, slug] of cases) expect([name, slugOf(name)]).toEqual([name, slug]);
  });

  it("is one, and the slug of itself, whatever the name", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 128 }), (name) => {
        const slug = slugOf(name);
        expect(isSkillSlug(slug)).toBe(true);
        expect(slugOf(slug)).toBe(slug);
      }),
    );
  });
});

describe("version numbers", () => {
  it("go up by a minor version", () => {
    const versions = ["0.1.0", "0.9.0", "1.2.3", "7.99.1", "0.999999.0"];
    const steps = versions.map((version) => [version, nextVersion(version)]);
    expect(steps).toEqual([
      ["0.1.0", "0.2.0"],
      ["0.9.0", "0.10.0"],
      ["1.2.3", "1.3.0"],
      ["7.99.1", "7.100.0"],
      ["0.999999.0", "1.0.0"],
    ]);
    expect(() => nextVersion("999999.999999.0")).toThrow("No version comes after 999999.999999.0");
  });

  it("compare as numbers, and the next one is always newer, and valid in an import", () => {
    expect(["0.10.0", "0.9.0", "1.0.0", "0.9.1"].sort(compareVersions)).toEqual(["0.9.0", "0.9.1", "0.10.0", "1.0.0"]);
    const number = fc.nat(999_999);
    fc.assert(
      fc.property(fc.nat(999_998), number, number, (...parts) => {
        const next = nextVersion(parts.join("."));
        expect(compareVersions(next, parts.join("."))).toBeGreaterThan(0);
        expect(next).toMatch(versionPattern);
      }),
    );
  });
});

describe("the version an import adds", () => {
  const fields = (content: string) => ({
    description: "d",
    content,
    requiredEnv: [{ name: "A", description: "x", sensitive: true, hosts: ["h"] }],
    requiredTools: ["t"],
    scripts: [],
  });
  const numbered = (version: string, content: string) => ({ version, ...fields(content) });
  const added = (...plan: Parameters<typeof planImport>) => {
    const { additions, current } = planImport(...plan);
    return [additions.map(({ version, content }) => `${version} ${content}`), current];
  };

  it("is the first version of a new skill", () => {
    expect(added([], fields("a"))).toEqual([["0.1.0 a"], "0.1.0"]);
  });

  it("is none when the newest has the same content, in whatever order the database keeps its fields", () => {
    const stored = {
      ...numbered("0.2.0", "b"),
      requiredEnv: [{ hosts: ["h"], sensitive: true, name: "A", description: "x" }],
    };
    expect(added([stored, numbered("0.1.0", "a")], fields("b"))).toEqual([[], "0.2.0"]);
  });

  it("is one on top when the content differs, even if it equals an older one", () => {
    expect(added([numbered("0.2.0", "b"), numbered("0.1.0", "a")], fields("a"))).toEqual([["0.3.0 a"], "0.3.0"]);
  });

  it("is the missing history, under its own numbers", () => {
    const versions = [numbered("1.0.0", "c"), numbered("0.1.0", "a")];
    expect(added([], { ...fields("c"), versions })).toEqual([["1.0.0 c", "0.1.0 a"], "1.0.0"]);
    expect(added([numbered("0.1.0", "a")], { ...fields("c"), versions })).toEqual([["1.0.0 c"], "1.0.0"]);
    expect(added(versions, { ...fields("c"), versions })).toEqual([[], "1.0.0"]);
    expect(added([], { ...fields("d"), versions })).toEqual([["1.0.0 c", "0.1.0 a", "1.1.0 d"], "1.1.0"]);
  });

  it("never replaces a stored version of the same number", () => {
    const versions = [numbered("0.2.0", "theirs")];
    const stored = [numbered("0.2.0", "ours"), numbered("0.1.0", "a")];
    expect(added(stored, { ...fields("theirs"), versions })).toEqual([["0.3.0 theirs"], "0.3.0"]);
  });
});
