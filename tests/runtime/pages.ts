import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../", import.meta.url));

interface Snippet {
  /** The word behind the fence; empty without one. */
  language: string;
  text: string;
}

export interface Page {
  /** Such as `docs/agents.md`. */
  name: string;
  snippets: readonly Snippet[];
}

/** README.md and all pages of docs/, with their fenced snippets in order. */
export function readPages(): Page[] {
  const files = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" });
  const docs = files.filter((name) => name.endsWith(".md"));
  return ["README.md", ...docs.sort().map((name) => `docs/${name}`)].map((name) => {
    const fences = readFileSync(join(root, name), "utf8").matchAll(/^( *)```(\w*)\n([\s\S]*?)^\1```$/gm);
    return { name, snippets: [...fences].map(([, , language = "", text = ""]) => ({ language, text })) };
  });
}

/** The snippets of a page in a language, in order. */
export function textsIn({ snippets }: Page, language: string): string[] {
  return snippets.filter((snippet) => snippet.language === language).map(({ text }) => text);
}

const assigned = /(?:^|[\s;|(])(?:export +)?([A-Z_][A-Z0-9_]*)=/g;
const used = /\$(?:\{([A-Z_][A-Z0-9_]*)|([A-Z_][A-Z0-9_]*))/g;

/** The variables that shell snippets use before one of them sets the variable. */
export function unsetVariables(snippets: readonly string[]): string[] {
  const known = new Set<string>();
  return snippets
    .flatMap((text) => text.split("\n"))
    .flatMap((line) => {
      const missing = [...line.matchAll(used)].map(([, braced, plain]) => braced ?? plain ?? "");
      const unset = missing.filter((name) => !known.has(name));
      for (const [, name = ""] of line.matchAll(assigned)) known.add(name);
      return unset;
    });
}

/** Sets a variable of shell snippets whose value the reader has to fill in (`…`). Throws for one without a value. */
export function fillIn(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/^(export )?([A-Z_]+)=[^\s#]*….*$/gm, (line, exported = "", name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`Nothing is known to fill in: ${line}`);
    return `${exported}${name}='${value}'`;
  });
}
