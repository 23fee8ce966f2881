import { parse } from "yaml";
import { refuseArchive } from "./zip-directory.ts";

/** Of all front matter in one archive: reading YAML takes up to 30 ms for each KiB. */
export const frontMatterLimit = 32 * 1024;

export interface SkillFile {
  /** As they stand there; whether they will do is for the schema to say. */
  fields: Record<string, unknown>;
  /** Length of the front matter. */
  length: number;
  content: string;
}

/**
 * A `SKILL.md` with its front matter: name, description, and what else may stand there or under `metadata`: category,
 * required-env, required-tools. Other fields are for other programs. Throws the 400 for front matter that is no YAML, or
 * longer than `maxLength`.
 */
export function readSkillFile(path: string, text: string, maxLength: number): SkillFile {
  const begin = /^---[ \t]*\r?\n/.exec(text)?.[0].length;
  const rest = text.slice(begin ?? 0);
  const end = /^---[ \t]*$/m.exec(rest);
  if (begin === undefined || end === null) {
    throw refuseArchive(`${path} has no front matter: it must begin with name and description between two lines ---`);
  }
  const content = rest.slice(end.index + end[0].length).trim();
  if (end.index > maxLength)
    throw refuseArchive(`its front matter is longer than ${frontMatterLimit} characters in all`);
  const given = parseYaml(path, rest.slice(0, end.index));
  const metadata = isRecord(given.metadata) ? given.metadata : {};
  const find = (...names: string[]) =>
    [given, metadata].flatMap((source) => names.map((name) => source[name])).find((value) => value !== undefined);
  const { name, description } = given;
  const fields = {
    name,
    description: typeof description === "string" ? description.trim() : description,
    category: find("category"),
    requiredEnv: list(find("requiredEnv", "required-env", "required_env"))?.map(toEnv),
    requiredTools: list(find("requiredTools", "required-tools", "required_tools")),
  };
  return { fields, length: end.index, content };
}

function parseYaml(path: string, text: string): Record<string, unknown> {
  let given: unknown;
  try {
    // Aliases have no use here, and are how a small text becomes a large value; comparing keys takes quadratic time.
    given = parse(text, { maxAliasCount: 0, uniqueKeys: false, logLevel: "error" });
  } catch {
    throw refuseArchive(`the front matter of ${path} is no valid YAML`);
  }
  if (!isRecord(given)) throw refuseArchive(`the front matter of ${path} must hold name and description`);
  return given;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A list may also be written as text, since `metadata` holds nothing else in most programs. */
function list(value: unknown): unknown[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value.split(/[\s,]+/).filter((word) => word !== "");
  return Array.isArray(value) ? value : [value];
}

const toEnv = (entry: unknown) => (typeof entry === "string" ? { name: entry } : entry);
