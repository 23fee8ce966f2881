import fc from "fast-check";
import { deflateSync, strToU8, zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { EngineError } from "../../../../src/core/errors.ts";
import { readArchive } from "../../../../src/features/skills/import/archive.ts";
import { processorTime } from "../../../processor-time.ts";
import { catalogue, type Fields, kitchen, read, refusal } from "../skills.ts";
import { writeZip, type ZipFile } from "./zip.ts";

const url = `${catalogue}/catalog/import`;
const skillMd = "---\nname: PDF forms\ndescription: Fills in forms.\n---\n\n# Forms\n\n---\nA rule.\n";
const zip = (files: Record<string, string>) =>
  zipSync(Object.fromEntries(Object.entries(files).map(([path, text]) => [path, strToU8(text)])));

/** The message of the 400 that an archive gets, and the processor time that it took. */
function refusalOf(bytes: Uint8Array): [string, number] {
  const taken = processorTime();
  try {
    readArchive(bytes);
  } catch (error) {
    if (error instanceof EngineError && error.status === 400) return [error.message, taken()];
    throw error;
  }
  throw new Error("The archive was not refused");
}

/** Expects a refusal with these words, after little time. */
function expectRefused(bytes: Uint8Array, words: string): void {
  const [message, ms] = refusalOf(bytes);
  expect(message).toContain(words);
  expect(ms).toBeLessThan(1000);
}

const plain = (path: string | Uint8Array, more: Partial<ZipFile> = {}): ZipFile => ({
  path,
  packed: strToU8("x"),
  ...more,
});
const skill = plain("SKILL.md", { packed: strToU8(skillMd) });

describe("an archive", () => {
  it("is read in no time, however its comments and names are written", () => {
    const spaces = " ".repeat(60_000);
    const taken = processorTime();
    const { skills } = readArchive(
      zip({
        "SKILL.md": skillMd,
        "scripts/a.js": `// x${spaces}y`,
        "scripts/b.js": `/* x${spaces}* /`,
        "scripts/c.js": `${spaces}/** Adds.  */ x */`,
      }),
    );
    expect(skills[0]?.scripts.map(({ description }) => description)).toEqual(["x", "x", "Adds."]);
    expect(taken()).toBeLessThan(1_000);
    const marks = "\u0301".repeat(15_000) + "\u0316".repeat(15_000);
    const files = Array.from({ length: 30 }, (_, index) => plain(`${index}${marks}`));
    expectRefused(writeZip([skill, ...files]), "longer than 512 characters");
  });

  it("becomes a skill: front matter, content, references and scripts", async () => {
    const { h, headers, send } = await kitchen();
    const body = zip({
      "pdf/SKILL.md": skillMd.replace("description:", "category: documents\nrequired-env: TOKEN, OTHER\ndescription:"),
      "pdf/scripts/fill.js": "// Fills one form.\nexport default () => 1;\n",
      "pdf/scripts/lib/check.mjs": "/** Checks it. */\nexport default 2;",
      "pdf/scripts/run.py": "print(1)",
      "pdf/references/b.md": "# B",
      "pdf/references/a.md": "# A\n",
      "pdf/LICENSE": "MIT",
      "__MACOSX/pdf/._SKILL.md": "\0",
      "pdf/.DS_Store": "\0",
    });
    const sent = { ...headers, "Content-Type": "application/zip" };
    const answer = await h.request(url, { method: "POST", headers: sent, body });
    expect([answer.status, await answer.json()]).toEqual([
      201,
      { created: 1, updated: 0, skipped: 0, ignored: ["pdf/LICENSE", "pdf/scripts/run.py"] },
    ]);
    const { skills } = await read<{ skills: Fields[] }>(send("GET", `${catalogue}/pdf-forms/export`));
    expect(skills[0]).toMatchObject({
      name: "PDF forms",
      description: "Fills in forms.",
      category: "documents",
      requiredEnv: [
        { name: "TOKEN", sensitive: true },
        { name: "OTHER", sensitive: true },
      ],
      content: "# Forms\n\n---\nA rule.\n\n## references/a.md\n\n# A\n\n## references/b.md\n\n# B",
      scripts: [
        { file: "fill.js", description: "Fills one form.", content: "// Fills one form.\nexport default () => 1;\n" },
        { file: "lib/check.mjs", description: "Checks it.", content: "/** Checks it. */\nexport default 2;" },
      ],
      versions: [{ version: "0.1.0" }],
    });
  });

  it("may come as a field of a form, and again without changing anything", async () => {
    const { h, headers } = await kitchen();
    const post = async () => {
      const form = new FormData();
      form.set("file", new Blob([new Uint8Array(zip({ "SKILL.md": skillMd }))]), "skill.zip");
      return read(h.request(url, { method: "POST", headers, body: form }));
    };
    expect(await post()).toMatchObject({ created: 1 });
    expect(await post()).toMatchObject({ skipped: 1 });
  });

  it("may hold several skills, at any depth", () => {
    const named = (name: string) => `---\nname: ${name}\ndescription: d\n---\nx`;
    const { skills } = readArchive(zip({ "main/skills/b/SKILL.md": named("B"), "main/a/SKILL.md": named("A") }));
    expect(skills.map(({ name }) => name)).toEqual(["A", "B"]);
  });

  it("is taken in the forms that other programs write it in", () => {
    const texts = [
      skillMd,
      skillMd.replaceAll("\n", "\r\n"),
      `\ufeff${skillMd}`,
      skillMd.replace(
        "description: Fills in forms.",
        "description: >\n  Fills\n  in forms.\nlicense: MIT\nallowed-tools: Bash Read",
      ),
      skillMd.replace("---\n\n#", 'metadata:\n  version: "1.0"\n  category: documents\n---  \n\n#'),
    ];
    for (const text of texts) {
      const [first] = readArchive(zip({ "SKILL.md": text })).skills;
      expect([first?.name, first?.description]).toEqual(["PDF forms", "Fills in forms."]);
      expect(first?.content.replaceAll("\r", "")).toBe("# Forms\n\n---\nA rule.");
    }
    const folders = writeZip(
      [plain("a/", { packed: new Uint8Array(), mode: 0o040755 }), { ...skill, path: "a/SKILL.md", mode: 0 }],
      {
        comment: "Made by hand",
      },
    );
    expect(readArchive(folders).skills).toHaveLength(1);
  });

  it("must hold skills as they should be", () => {
    const folder = (text: string) => zip({ "a/SKILL.md": text });
    expectRefused(zip({ "readme.md": "x" }), "it has no SKILL.md");
    expectRefused(writeZip([]), "it has no SKILL.md");
    expectRefused(
      zip({ "SKILL.md": skillMd, "a/SKILL.md": skillMd }),
      "a/SKILL.md lies inside the folder of another skill",
    );
    expectRefused(zip({ "a/SKILL.md": skillMd, "b/SKILL.md": skillMd }), "two of them have the slug pdf-forms");
    expectRefused(folder("# No front matter"), "a/SKILL.md has no front matter");
    expectRefused(folder("---\nname: x\n"), "a/SKILL.md has no front matter");
    expectRefused(folder("---\nname: [\n---\nx"), "front matter of a/SKILL.md is no valid YAML");
    expectRefused(folder("---\n- a\n---\nx"), "front matter of a/SKILL.md must hold name and description");
    expectRefused(folder("---\nname: x\n---\nx"), "a/SKILL.md.description: ");
    expectRefused(folder("---\nname: 5\ndescription: d\n---\nx"), "a/SKILL.md.name: ");
    expectRefused(folder("---\nname: x\ndescription: d\n---\n"), "a/SKILL.md.content: must not be empty");
    expectRefused(
      folder("---\nname: x\ndescription: d\nrequired-env: [{sensitive: true}]\n---\nx"),
      "a/SKILL.md.requiredEnv.0.name: ",
    );
    const binary = plain("a/references/x.md", { packed: Uint8Array.of(0xff, 0xfe, 0x41) });
    expectRefused(writeZip([{ ...skill, path: "a/SKILL.md" }, binary]), "a/references/x.md is not UTF-8 text");
    expectRefused(zip({ "SKILL.md": skillMd, "scripts/a.js": "\0" }), "scripts.0.content: must not contain NUL");
  });

  it("can't blow up the reader of its YAML", () => {
    const front = (yaml: string) => zip({ "SKILL.md": `---\nname: x\ndescription: d\n${yaml}\n---\nx` });
    const laughs = Array.from({ length: 9 }, (_, n) => `l${n + 1}: &l${n + 1} [${`*l${n},`.repeat(9)}]`);
    expectRefused(front(["l0: &l0 [lol]", ...laughs].join("\n")), "no valid YAML");
    expectRefused(front(`deep: ${"[".repeat(20_000)}`), "no valid YAML");
    expectRefused(front(`long: ${"x".repeat(40_000)}`), "its front matter is longer than 32768 characters in all");
    const polluted = readArchive(front("__proto__:\n  category: bad\nconstructor: x")).skills[0];
    expect([polluted?.category, "category" in {}]).toEqual([undefined, false]);
  });
});

describe("a hostile archive", () => {
  it("is refused for a path that leads out of it", () => {
    const paths = [
      "../x",
      "a/../../x",
      "/x",
      "//x",
      "a//b",
      "./x",
      "a/./b",
      "..",
      "C:/x",
      "c:x",
      "a\\b",
      "..\\x",
      "a\0b",
      "a\nb",
      "",
    ];
    for (const path of paths) expectRefused(writeZip([skill, plain(path)]), "is not a path inside its folder");
    expectRefused(writeZip([skill, plain("x".repeat(513))]), "is longer than 512 characters");
    expectRefused(writeZip([skill, plain(Uint8Array.of(0x61, 0xff))]), "the name of a file in it is not UTF-8");
  });

  it("is refused for links, devices, encryption, and a path that is there twice", () => {
    expectRefused(writeZip([skill, plain("a", { mode: 0o120777 })]), '"a" is a symbolic link');
    expectRefused(writeZip([{ ...skill, mode: 0o120777 }]), '"SKILL.md" is a symbolic link');
    expectRefused(writeZip([skill, plain("a", { mode: 0o020666 })]), '"a" is no plain file');
    expectRefused(writeZip([skill, plain("a", { flags: 1 })]), '"a" is encrypted');
    expectRefused(writeZip([skill, plain("a", { flags: 0x2000 })]), '"a" is encrypted');
    expectRefused(writeZip([skill, plain("a", { method: 12 })]), '"a" is packed by another method');
    expectRefused(writeZip([skill, skill]), 'it has "SKILL.md" twice');
    expectRefused(writeZip([skill, plain("\u00e9"), plain("e\u0301")]), "twice");
  });

  it("is refused for 10,000 entries, also when it counts fewer", () => {
    const many = [skill, ...Array.from({ length: 10_000 }, (_, n) => plain(`f${n}`))];
    expectRefused(writeZip(many), "it has more than 1000 entries");
    expectRefused(writeZip(many, { count: 5 }), "it is damaged");
    expectRefused(writeZip([skill], { count: 900 }), "it is damaged");
    expectRefused(writeZip([skill], { count: 0xffff }), "zip64 is not supported");
  });

  it("is refused when it is a bomb, whatever it says of itself", () => {
    const zeros = deflateSync(new Uint8Array(64 * 1024 * 1024));
    const bomb = (size: number) => writeZip([skill, { path: "b.bin", packed: zeros, method: 8, size }]);
    expectRefused(bomb(64 * 1024 * 1024), "it unpacks to more than 8388608 bytes");
    expectRefused(bomb(10), "it unpacks to more than");
    const text = deflateSync(new Uint8Array(1024 * 1024));
    expectRefused(writeZip([skill, { path: "b", packed: text, method: 8, size: 10 }]), "more than 100 times its size");
    expectRefused(bomb(0xffffffff), "it unpacks to more than 8388608 bytes");
    const padding = plain("padding", { packed: crypto.getRandomValues(new Uint8Array(60_000)) });
    const padded = Array.from({ length: 8 }, (_, n) => ({ ...padding, path: `p${n}` }));
    expectRefused(writeZip([...padded, { path: "b", packed: zeros, method: 8, size: 1 }]), "more than 8388608 bytes");
  });

  it("is refused when many of its files are the same bytes", () => {
    const packed = deflateSync(new Uint8Array(1024 * 1024));
    const kernel = { path: "SKILL.md", packed, method: 8, size: 1024 * 1024 };
    const copies = Array.from({ length: 999 }, (_, n) => ({ ...kernel, path: `c${n}`, overlapping: true }));
    expectRefused(writeZip([kernel, ...copies]), "it unpacks to more than");
    const stored = { path: "SKILL.md", packed: new Uint8Array(1024 * 1024).fill(65) };
    const again = Array.from({ length: 999 }, (_, n) => ({ ...stored, path: `c${n}`, overlapping: true }));
    expectRefused(writeZip([stored, ...again]), "it unpacks to more than");
    const lying = again.map((copy) => ({ ...copy, size: 0 }));
    expectRefused(writeZip([stored, ...lying]), "it is damaged");
  });

  it("is refused when it is damaged, at whatever byte, and never breaks the reader", () => {
    const whole = zip({ "a/SKILL.md": skillMd.repeat(20), "a/scripts/x.js": "1" });
    expectRefused(writeZip([{ path: "SKILL.md", packed: strToU8("no deflate at all"), method: 8 }]), "it is damaged");
    expectRefused(new Uint8Array(), "it is damaged");
    for (let length = 0; length < whole.length; length += 1) {
      expect(refusalOf(whole.subarray(0, length))[0]).toContain("it is damaged");
    }
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.nat(255), (at, byte) => {
        const changed = whole.slice();
        changed[at] = byte;
        try {
          readArchive(changed);
        } catch (error) {
          expect(error).toBeInstanceOf(EngineError);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("changes nothing, and is the 400 of the route", async () => {
    const { h, headers, send } = await kitchen();
    const sent = { ...headers, "Content-Type": "application/zip" };
    const body = writeZip([skill, plain("../../etc/passwd")]);
    expect(await refusal(h.request(url, { method: "POST", headers: sent, body }))).toEqual([
      400,
      'The archive is refused: "../../etc/passwd" is not a path inside its folder',
    ]);
    expect(await read(send("GET", catalogue))).toEqual({ skills: [] });
  });
});
