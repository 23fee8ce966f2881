import { invalid } from "../../http/errors.ts";
import { frontMatterLimit, readSkillFile } from "./front-matter.ts";
import { SkillImport, scriptFile } from "./import-schema.ts";
import { unzip } from "./unzip.ts";
import { refuseArchive } from "./zip-directory.ts";

interface Archive {
  skills: SkillImport["skills"];
  /** Files that skills have no use for. */
  ignored: string[];
}

/**
 * The skills in a zip archive: one where each `SKILL.md` lies, with the folders `scripts` and `references` beside it.
 * Throws the 400 that says what is wrong, and with which file.
 */
export function readArchive(bytes: Uint8Array): Archive {
  const files = new Map([...unzip(bytes)].filter(([path]) => !isClutter(path)));
  const roots = [...files.keys()].filter((path) => /(^|\/)SKILL\.md$/.test(path)).map((path) => path.slice(0, -8));
  if (roots.length === 0) throw refuseArchive("it has no SKILL.md");
  if (roots.length > 500) throw refuseArchive("it has more than 500 skills");
  const nested = roots.find((root) => roots.some((other) => other !== root && root.startsWith(other)));
  if (nested !== undefined) throw refuseArchive(`${nested}SKILL.md lies inside the folder of another skill`);

  const used = new Set<string>();
  let left = frontMatterLimit;
  const entries = roots.sort().map((root) => {
    const { length, entry } = readFolder(root, files, used, left);
    left -= length;
    return entry;
  });
  const parsed = SkillImport.safeParse({ skills: entries });
  if (!parsed.success) {
    throw invalid(
      parsed.error.issues.map(({ path: [first, index, ...rest], message }) => ({
        path: [typeof index === "number" ? `${roots[index] ?? ""}SKILL.md` : String(first ?? ""), ...rest],
        message,
      })),
    );
  }
  return { skills: parsed.data.skills, ignored: [...files.keys()].filter((path) => !used.has(path)).sort() };
}

/** What macOS and Windows put beside the files. */
const isClutter = (path: string) => /(^|\/)(__MACOSX\/|\.DS_Store$|Thumbs\.db$)/.test(path);

function readFolder(root: string, files: ReadonlyMap<string, Uint8Array>, used: Set<string>, frontMatter: number) {
  const read = (path: string) => {
    used.add(path);
    return decode(path, files.get(path));
  };
  const inside = (folder: string, file: RegExp) =>
    [...files.keys()]
      .filter((path) => path.startsWith(`${root}${folder}/`))
      .map((path) => path.slice(root.length + folder.length + 1))
      .filter((name) => file.test(name))
      .sort();

  const path = `${root}SKILL.md`;
  const { fields, length, content } = readSkillFile(path, read(path), frontMatter);
  const references = inside("references", /\.(md|txt)$/i).map(
    (file) => `## references/${file}\n\n${read(`${root}references/${file}`).trim()}`,
  );
  const scripts = inside("scripts", scriptFile).map((file) => {
    const source = read(`${root}scripts/${file}`);
    return { file, description: firstComment(source), content: source };
  });
  const whole = [content, ...references].filter((part) => part !== "").join("\n\n");
  return { length, entry: { ...fields, content: whole, scripts } };
}

/** The first line of the comment that a script begins with, its first 1,000 characters. */
function firstComment(source: string): string {
  const [, whole = ""] = /^\s*(?:\/\/+|\/\*+)\s*([^\r\n]*)/.exec(source) ?? [];
  const line = whole.slice(0, 1000);
  const end = line.indexOf("*/");
  return (end < 0 ? line : line.slice(0, end)).toWellFormed().trim();
}

function decode(path: string, bytes: Uint8Array | undefined): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw refuseArchive(`${path} is not UTF-8 text`);
  }
}
