import { invalid } from "../../../http/errors.ts";
import { FrontMatterBudget, readSkillFile } from "./front-matter.ts";
import { parseImport, type SkillImport, scriptFile } from "./schema.ts";
import { unzip } from "./unzip.ts";
import { refuseArchive } from "./zip-directory.ts";

interface Archive {
  skills: SkillImport["skills"];
  /** Paths of files that skills do not use. */
  ignored: string[];
}

/**
 * The skills in a zip archive: one for each `SKILL.md`, with the folders `scripts` and `references` beside it. Throws
 * the 400 with the file and its problem.
 */
export function readArchive(bytes: Uint8Array): Archive {
  const files = new Map([...unzip(bytes)].filter(([path]) => !isClutter(path)));
  const roots = [...files.keys()].filter((path) => /(^|\/)SKILL\.md$/.test(path)).map((path) => path.slice(0, -8));
  if (roots.length === 0) throw refuseArchive("it has no SKILL.md");
  if (roots.length > 500) throw refuseArchive("it has more than 500 skills");
  roots.sort();
  // In sorted order, a folder comes right before its content.
  const nested = roots.find((root, index) => index > 0 && root.startsWith(roots[index - 1] ?? ""));
  if (nested !== undefined) throw refuseArchive(`${nested}SKILL.md lies inside the folder of another skill`);

  const used = new Set<string>();
  const read = (path: string) => {
    used.add(path);
    return decode(path, files.get(path));
  };
  const budget = new FrontMatterBudget();
  const folders = groupByRoot(files.keys(), new Set(roots));
  const entries = roots.map((root) => readFolder(root, folders.get(root) ?? [], read, budget));
  const parsed = parseImport({ skills: entries });
  if ("issues" in parsed) {
    throw invalid(
      parsed.issues.map(({ path: [first, index, ...rest], message }) => ({
        path: [typeof index === "number" ? `${roots[index] ?? ""}SKILL.md` : String(first ?? ""), ...rest],
        message,
      })),
    );
  }
  return { skills: parsed.skills, ignored: [...files.keys()].filter((path) => !used.has(path)).sort() };
}

/** Files that macOS and Windows add. */
const isClutter = (path: string) => /(^|\/)(__MACOSX\/|\.DS_Store$|Thumbs\.db$)/.test(path);

/** The paths inside the folder of each skill; other paths are left out. */
function groupByRoot(paths: Iterable<string>, roots: ReadonlySet<string>): Map<string, string[]> {
  const groups = new Map<string, string[]>([...roots].map((root) => [root, []]));
  for (const path of paths) {
    for (let root = path; root !== ""; ) {
      root = root.slice(0, root.lastIndexOf("/", root.length - 2) + 1);
      groups.get(root)?.push(path);
    }
  }
  return groups;
}

function readFolder(root: string, paths: readonly string[], read: (path: string) => string, budget: FrontMatterBudget) {
  const inside = (folder: string, file: RegExp) =>
    paths
      .filter((path) => path.startsWith(`${root}${folder}/`))
      .map((path) => path.slice(root.length + folder.length + 1))
      .filter((name) => file.test(name))
      .sort();

  const path = `${root}SKILL.md`;
  const { fields, content } = readSkillFile(path, read(path), budget);
  const references = inside("references", /\.(md|txt)$/i).map(
    (file) => `## references/${file}\n\n${read(`${root}references/${file}`).trim()}`,
  );
  const scripts = inside("scripts", scriptFile).map((file) => {
    const source = read(`${root}scripts/${file}`);
    return { file, description: firstComment(source), content: source };
  });
  const whole = [content, ...references].filter((part) => part !== "").join("\n\n");
  return { ...fields, content: whole, scripts };
}

/** The first line of the comment at the start of a script, at most 1,000 characters. */
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
