import { CST, Lexer, parse } from "yaml";
import { isObject } from "../../../core/json.ts";
import { refuseArchive } from "./zip-directory.ts";

const maxCharacters = 32 * 1024;
/** The most tokens: words, signs, line ends and the spaces between them. */
const maxTokens = 10_000;
const maxLevels = 16;

/** The limits of all front matter in one archive together, since to read YAML takes up to 50 µs for each token. */
export class FrontMatterBudget {
  #characters = maxCharacters;
  #tokens = maxTokens;

  /** Counts characters; throws the 400 beyond the limit. */
  spendCharacters(characters: number): void {
    this.#characters -= characters;
    if (this.#characters < 0) throw refuseArchive(`its front matter is longer than ${maxCharacters} characters in all`);
  }

  /** Counts a token; throws the 400 beyond the limit. */
  spendToken(): void {
    this.#tokens -= 1;
    if (this.#tokens < 0) throw refuseArchive(`its front matter has more than ${maxTokens} words and marks in all`);
  }
}

export interface SkillFile {
  /** The fields of the file. Not checked here: the schema checks them. */
  fields: Record<string, unknown>;
  content: string;
}

/**
 * Reads a `SKILL.md`. Its front matter has name and description. It may also have category, required-env and
 * required-tools, at the top or under `metadata`. Other fields are for other programs. Throws the 400 for front matter
 * that is no YAML or exceeds the budget.
 */
export function readSkillFile(path: string, text: string, budget: FrontMatterBudget): SkillFile {
  const begin = /^---[ \t]*\r?\n/.exec(text)?.[0].length;
  const rest = text.slice(begin ?? 0);
  const end = /^---[ \t]*$/m.exec(rest);
  if (begin === undefined || end === null) {
    throw refuseArchive(`${path} has no front matter: it must begin with name and description between two lines ---`);
  }
  const content = rest.slice(end.index + end[0].length).trim();
  const given = parseYaml(path, rest.slice(0, end.index), budget);
  const metadata = isObject(given.metadata) ? given.metadata : {};
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
  return { fields, content };
}

function parseYaml(path: string, text: string, budget: FrontMatterBudget): Record<string, unknown> {
  budget.spendCharacters(text.length);
  requirePlain(path, text, budget);
  let given: unknown;
  try {
    // No aliases: they make large values of small texts. Keys are not compared, which would take quadratic time.
    given = parse(text, { maxAliasCount: 0, uniqueKeys: false, logLevel: "error" });
  } catch {
    throw noYaml(path);
  }
  if (!isObject(given)) throw refuseArchive(`the front matter of ${path} must hold name and description`);
  return given;
}

/**
 * Refuses unneeded syntax before the text is parsed, since the parser makes a costly error object for each wrong token.
 */
function requirePlain(path: string, text: string, budget: FrontMatterBudget): void {
  let depth = 0;
  let type: CST.TokenType | null = null;
  for (const token of new Lexer().lex(text)) {
    budget.spendToken();
    // The token after this mark is always text.
    type = type === "scalar" ? null : CST.tokenType(token);
    if (type === null) continue;
    if (unused.has(type)) throw noYaml(path, " for a skill: leave out directives, anchors, aliases and tags");
    if (type === "flow-map-start" || type === "flow-seq-start") depth += 1;
    if (type === "flow-map-end" || type === "flow-seq-end") depth -= 1;
    if (type === "flow-error-end" || depth < 0 || depth > maxLevels) throw noYaml(path);
  }
}

const unused: ReadonlySet<CST.TokenType> = new Set(["directive-line", "anchor", "alias", "tag"]);

const noYaml = (path: string, why = "") => refuseArchive(`the front matter of ${path} is no valid YAML${why}`);

/** Reads a list, perhaps written as text: in most programs `metadata` contains only texts. */
function list(value: unknown): unknown[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value.split(/[\s,]+/).filter((word) => word !== "");
  return Array.isArray(value) ? value : [value];
}

const toEnv = (entry: unknown) => (typeof entry === "string" ? { name: entry } : entry);
