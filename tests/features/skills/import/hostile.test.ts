import { strToU8, zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import type { Ctx } from "../../../../src/context/ctx.ts";
import { EngineError } from "../../../../src/core/errors.ts";
import type { Db } from "../../../../src/db/client.ts";
import { skills } from "../../../../src/db/schema.ts";
import { readArchive } from "../../../../src/features/skills/import/archive.ts";
import { readFormFile } from "../../../../src/features/skills/import/form.ts";
import { FrontMatterBudget, readSkillFile } from "../../../../src/features/skills/import/front-matter.ts";
import { planAll } from "../../../../src/features/skills/import/plan.ts";
import { parseImport } from "../../../../src/features/skills/import/schema.ts";
import { storePlans } from "../../../../src/features/skills/import/store.ts";
import { catalogue, type Fields, kitchen, read, refunds, refusal } from "../skills.ts";

const url = `${catalogue}/catalog/import`;

/** The message of the 400. */
function refusedBy(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof EngineError && error.status === 400) return error.message;
    throw error;
  }
  throw new Error("It was not refused");
}

/** The same transaction, which counts its statements. */
function counted(tx: Db): { tx: Db; count: () => number } {
  let count = 0;
  const begins: ReadonlySet<PropertyKey> = new Set(["select", "insert", "update", "delete", "execute"]);
  const get = (target: Db, key: PropertyKey) => {
    if (begins.has(key)) count += 1;
    const value: unknown = Reflect.get(target, key);
    return typeof value === "function" ? value.bind(target) : value;
  };
  return { tx: new Proxy(tx, { get }), count: () => count };
}

describe("many skills", () => {
  it("take as many statements as few, and a few more to compare them with what is there", async () => {
    const { h, send } = await kitchen();
    const { database } = h.services;
    const ctx = { membership: { organizationId: h.organization.id }, actor: { type: "system" } } as unknown as Ctx;
    const store = (content: string) =>
      database.transaction(async (transaction) => {
        const { tx, count } = counted(transaction);
        const list = Array.from({ length: 499 }, (_, n) => ({ ...refunds, name: `s${n}`, content, category: content }));
        const parsed = parseImport({ skills: list });
        if ("issues" in parsed) throw new Error("They are skills");
        const rows = await transaction.select().from(skills);
        await storePlans(tx, ctx, await planAll(tx, parsed.skills, new Map(rows.map((row) => [row.slug, row]))));
        return count();
      });
    expect(await store("one")).toBe(2);
    // The counts; twenty reads of the newest versions; the new ones; two changes of the skills; their agents.
    expect(await store("two")).toBe(25);
    expect(await store("two")).toBe(21);
    expect(await read(send("GET", `${catalogue}/s498`))).toMatchObject({
      content: "two",
      category: "two",
      version: "0.2.0",
    });
  });

  it("come with their histories, each with what is its own", async () => {
    const { send } = await kitchen();
    const version = (number: string, fields: Fields = {}) => ({
      version: number,
      description: `d ${number}`,
      content: `quotes " and \\ ${number}`,
      ...fields,
    });
    const versions = [
      version("0.1.0", { createdAt: "2024-02-03T04:05:06+02:00", changelog: "First" }),
      version("0.3.0", {
        requiredTools: ["httpRequest", "currentTime"],
        requiredEnv: [{ name: "A{,}", hosts: ["a.b"] }],
      }),
    ];
    const one = { ...refunds, name: "One", versions };
    expect(await read(send("POST", url, { skills: [one, { ...refunds, name: "Two" }] }))).toMatchObject({ created: 2 });
    const exported = await read<{ skills: { versions: Fields[] }[] }>(send("GET", `${catalogue}/one/export`));
    expect(exported.skills[0]?.versions).toMatchObject([
      { version: "0.4.0", content: refunds.content },
      {
        ...version("0.3.0"),
        requiredTools: ["httpRequest", "currentTime"],
        requiredEnv: [{ name: "A{,}", sensitive: true }],
      },
      { ...version("0.1.0"), createdAt: "2024-02-03T02:05:06.000Z", changelog: "First" },
    ]);
    const late = { ...refunds, name: "One", versions: [version("0.2.0")] };
    const other = { ...refunds, name: "Two", category: "sales" };
    const both = await read(send("POST", url, { skills: [late, other, { ...refunds, name: "Three" }] }));
    expect(both).toMatchObject({ created: 1, updated: 2, skipped: 0 });
    expect(await read(send("GET", `${catalogue}/one`))).toMatchObject({ version: "0.4.0", content: refunds.content });
    expect(await read(send("GET", `${catalogue}/two`))).toMatchObject({ version: "0.1.0", category: "sales" });
  });
});

describe("JSON that costs more than it can be", () => {
  it("is refused before it is parsed", async () => {
    const { h, headers } = await kitchen();
    const post = (body: string) => {
      const sent = { ...headers, "Content-Type": "application/json" };
      return refusal(h.request(url, { method: "POST", headers: sent, body }));
    };
    const deep = "The body is refused: it is nested more than 64 levels deep";
    const many = "The body is refused: it holds more than 200000 values";
    expect(await post("[".repeat(4_000_000))).toEqual([400, deep]);
    expect(await post(`{"a":`.repeat(100_000))).toEqual([400, deep]);
    expect(await post(`[${"[],".repeat(2_600_000)}0]`)).toEqual([400, many]);
    expect(await post(`{${Array.from({ length: 300_000 }, (_, n) => `"${n}":0`).join()}}`)).toEqual([400, many]);
  });

  it("is looked at until enough is wrong, and no further", () => {
    let looks = 0;
    const bad = () => ({ ...refunds, name: 5, description: 5, content: 5, requiredTools: 5 });
    const list = Array.from({ length: 500 }, () =>
      Object.defineProperty(bad(), "requiredEnv", {
        enumerable: true,
        get: () => {
          looks += 1;
          return [];
        },
      }),
    );
    const parsed = parseImport({ skills: list });
    expect("issues" in parsed && parsed.issues.length).toBeGreaterThan(50);
    expect(looks).toBeLessThan(50);
  });

  it("may bring 5000 versions and no more", async () => {
    const history = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ version: `0.${n}.0`, description: "d", content: `${n}` }));
    const list = Array.from({ length: 10 }, (_, n) => ({ ...refunds, name: `s${n}`, versions: history(500) }));
    expect(parseImport({ skills: list })).toMatchObject({ skills: { length: 10 } });
    const more = [...list, { ...refunds, name: "more", versions: history(1) }];
    expect(parseImport({ skills: more })).toMatchObject({
      issues: [{ path: ["skills"], message: "must have at most 5000 versions in all" }],
    });
  });

  it("is the 400 of the field when a moment is in no year that can be stored", async () => {
    const { send } = await kitchen();
    for (const createdAt of ["0000-06-01T00:00:00Z", "0001-01-01T00:00:00+23:00"]) {
      const versions = [{ version: "0.1.0", description: "d", content: "c", createdAt }];
      expect(await refusal(send("POST", url, { skills: [{ ...refunds, versions }] }))).toEqual([
        400,
        "skills.0.versions.0.createdAt: must be in the year 1 or later",
      ]);
    }
  });
});

describe("a form", () => {
  const type = 'multipart/form-data; boundary="a b"';
  const latin1 = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0));
  const part = (head: string, content = "") => `--a b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`;
  const end = "--a b--\r\n";
  const readText = (text: string, header = type) => {
    const bytes = readFormFile(header, latin1(text));
    return String.fromCharCode(...bytes);
  };

  it("has its file wherever it is, byte for byte", () => {
    const content = "PK\u0000\u0080\u009f\u00ff\r\n--a\r\n";
    const file = `${part('name="file"; filename="a.zip"\r\nContent-Type: application/zip', content)}`;
    expect(readText(`${file}${end}`)).toBe(content);
    expect(readText(`preamble\r\n${part('name="other"', "x")}${file}${end}`)).toBe(content);
    expect(readText(`${file.replaceAll("--a b", "--xyz")}--xyz--`, "multipart/form-data;boundary=xyz;x=y")).toBe(
      content,
    );
    expect(readText(`${part("filename=x.zip; name=file")}${end}`)).toBe("");
    expect(readText(`${part('name="my file"; filename="file"', "no")}${file}${end}`)).toBe(content);
  });

  it("is refused when it has none, or is none", () => {
    const missing = "file: must be a zip archive, sent as a file";
    const broken = "The body is not valid multipart/form-data";
    const wrong: [string, string, string?][] = [
      [`${part('name="file"', "text")}${end}`, missing],
      [`${part('name="other"; filename="x"')}${end}`, missing],
      [end, missing],
      ["", broken],
      ["no form", broken],
      [part('name="file"; filename="x"', "never ends"), broken],
      ["--a b\r\nContent-Disposition: form-data", broken],
      [`--a bc\r\n\r\n${end}`, broken],
      [`${part('name="file"; filename="x"')}${end}`, broken, "multipart/form-data"],
      [`${part('name="file"; filename="x"')}${end}`, broken, `multipart/form-data; boundary=${"x".repeat(71)}`],
    ];
    for (const [text, message, header] of wrong)
      expect([text, refusedBy(() => readText(text, header))]).toEqual([text, message]);
  });

  it("is read no further than its sixteenth field, and the head of a field no further than 8 KiB", () => {
    const file = part('name="file"; filename="x"', "zip");
    expect(readText(`${part('name="a"').repeat(15)}${file}`.concat(end))).toBe("zip");
    const many = `${part('name="a"').repeat(100_000)}${file}${end}`;
    expect(refusedBy(() => readText(many))).toBe("file: must be among the first 16 fields of the form");
    const head = part(`name="file"; filename="x"\r\n${"a: b\r\n".repeat(2000)}x: y`, "zip");
    expect(refusedBy(() => readText(`${head}${end}`))).toBe("The body is not valid multipart/form-data");
  });
});

describe("front matter", () => {
  const readYaml = (yaml: string) => readSkillFile("SKILL.md", `---\n${yaml}\n---\nx`, new FrontMatterBudget()).fields;

  it.each([
    "%\n".repeat(15_000),
    "%TAG ! a\n".repeat(3000),
    "name: &a x",
    "a: &a x\n".repeat(3000),
    "a: *a\n".repeat(3000),
    "a: !!str x",
    "!a ".repeat(10_000),
    "&a ".repeat(10_000),
  ])("has no use for directives, anchors, aliases and tags", (yaml) => {
    expect(refusedBy(() => readYaml(yaml))).toBe(
      "The archive is refused: the front matter of SKILL.md is no valid YAML for a skill: leave out directives, anchors, aliases and tags",
    );
  });

  it.each([
    "? ".repeat(16_000),
    "- ".repeat(16_000),
    "a: ".repeat(10_000),
    `a: [${"a,".repeat(15_000)}]`,
    `a: {${"? ,".repeat(10_000)}}`,
    "#\n".repeat(15_000),
    "'\n".repeat(15_000),
  ])("has so many words, and is not parsed with more", (yaml) => {
    expect(refusedBy(() => readYaml(yaml))).toContain("its front matter has more than 10000 words and marks in all");
  });

  it.each([
    "[".repeat(30_000),
    "{".repeat(30_000),
    "a: [\n]\n".repeat(4000).concat("]"),
    `a: ${"[".repeat(17)}${"]".repeat(17)}`,
  ])("is not nested without end", (yaml) => {
    expect(refusedBy(() => readYaml(yaml))).toMatch(/is no valid YAML$|words and marks/);
  });

  it("shares its limits among all skills of an archive", () => {
    const file = (name: string) => strToU8(`---\nname: ${name}\ndescription: d\nx: [${"a,".repeat(1500)}]\n---\nx`);
    const archive = (count: number) =>
      zipSync(Object.fromEntries(Array.from({ length: count }, (_, n) => [`s${n}/SKILL.md`, file(`s${n}`)])));
    expect(readArchive(archive(2)).skills).toHaveLength(2);
    expect(refusedBy(() => readArchive(archive(3)))).toContain("words and marks in all");
  });

  it("may use marks inside its texts, and lists and maps", () => {
    expect(
      readYaml(
        'name: "&a *b !c %d"\ndescription: |\n  *all* & !more\n  %d\nrequired-env: [{name: A, sensitive: false}, B]',
      ),
    ).toMatchObject({
      name: "&a *b !c %d",
      description: "*all* & !more\n%d",
      requiredEnv: [{ name: "A", sensitive: false }, { name: "B" }],
    });
  });
});

describe("an archive of many skills", () => {
  it("is refused when a small file says that it is smaller or larger than it is", () => {
    const zip = zipSync({ "SKILL.md": strToU8(`---\nname: x\ndescription: d\n---\n${"text ".repeat(100)}`) });
    const view = new DataView(zip.buffer);
    const size = zip.length - 22 - 46 - "SKILL.md".length + 24;
    const real = view.getUint32(size, true);
    for (const told of [0, 1, real - 1, real + 1, 2 * real]) {
      view.setUint32(size, told, true);
      expect(refusedBy(() => readArchive(zip))).toContain("it is damaged");
    }
    view.setUint32(size, real, true);
    expect(readArchive(zip).skills).toHaveLength(1);
  });

  it("finds the files of each, also of those whose names begin alike", () => {
    const skill = (name: string) => strToU8(`---\nname: ${name}\ndescription: d\n---\nx`);
    const found = readArchive(
      zipSync({
        "a/SKILL.md": skill("A"),
        "a/scripts/x.js": strToU8("1"),
        "ab/SKILL.md": skill("AB"),
        "ab/scripts/deep/y.js": strToU8("2"),
        "a/b": strToU8("3"),
        "z/scripts/x.js": strToU8("4"),
      }),
    );
    expect(found.skills.map(({ name, scripts }) => [name, scripts.map(({ file }) => file)])).toEqual([
      ["A", ["x.js"]],
      ["AB", ["deep/y.js"]],
    ]);
    expect(found.ignored).toEqual(["a/b", "z/scripts/x.js"]);
    const nested = { "a/SKILL.md": skill("A"), "a-b/SKILL.md": skill("B"), "a/x/y/SKILL.md": skill("C") };
    expect(refusedBy(() => readArchive(zipSync(nested)))).toContain(
      "a/x/y/SKILL.md lies inside the folder of another skill",
    );
  });
});
