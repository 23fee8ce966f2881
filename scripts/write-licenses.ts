import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Metafile } from "esbuild";

const path = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));

/**
 * The allowed licences: of libraries that may be part of a program under MIT, and of fonts that may be distributed with
 * one.
 */
const permissive = new Set([
  ...["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "Unlicense"],
  ...["Bitstream-Vera", "MIT AND OFL-1.1"],
]);

/** The licences of packages whose manifests do not name them. */
const unnamed = new Map([
  ["dejavu-fonts-ttf", "Bitstream-Vera"],
  ["png-js", "MIT"],
]);

interface Library {
  name: string;
  version: string;
  license: string;
  text: string;
}

/**
 * Makes dist/THIRD-PARTY-LICENSES for the libraries in a bundle and those of the `copied` files. Throws when a
 * library's licence is not `permissive`.
 */
export function writeLicenses(bundle: Metafile, copied: readonly string[]): void {
  const bundled = Object.values(bundle.outputs)
    .flatMap(({ inputs }) => Object.keys(inputs))
    .map((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input)?.[0] ?? "")
    .filter((folder) => folder !== "");
  const folders = new Set([
    ...bundled,
    ...copied.map((file) => `node_modules/${/^(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]}`),
  ]);
  const libraries = [...folders].map(describe).sort((a, b) => compare(a.name, b.name) || compare(a.version, b.version));
  writeFileSync(path("dist/THIRD-PARTY-LICENSES"), render(libraries));
}

function describe(folder: string): Library {
  const manifest = JSON.parse(readFileSync(path(`${folder}/package.json`), "utf8")) as Record<string, unknown>;
  const { name, version } = manifest;
  const license = unnamed.get(String(name)) ?? manifest.license;
  if (typeof license !== "string" || !permissive.has(license)) {
    throw new Error(`${folder} is under ${JSON.stringify(license)}: it can't be bundled`);
  }
  return { name: String(name), version: String(version), license, text: ownText(folder) || standard(license) };
}

/** The text of a library's own licence files, including its notice. */
function ownText(folder: string): string {
  return readdirSync(path(folder))
    .filter((file) => /^(licen[cs]e|copying|notice)(_font)?(\.(md|txt))?$/i.test(file))
    .sort()
    .map((file) => readFileSync(path(`${folder}/${file}`), "utf8").trim())
    .join("\n\n");
}

function standard(license: string): string {
  try {
    return readFileSync(path(`scripts/licenses/${license}.txt`), "utf8").trim();
  } catch {
    throw new Error(`A library brings no text of its licence: add scripts/licenses/${license}.txt`);
  }
}

/** Lists each text once, below its libraries. */
function render(libraries: readonly Library[]): string {
  const users = new Map<string, string[]>();
  for (const { name, version, license, text } of libraries) {
    const line = `${name} ${version} (${license}), https://www.npmjs.com/package/${name}`;
    users.set(text, [...(users.get(text) ?? []), line]);
  }
  const sections = [...users].map(([text, lines]) => [...lines, "", text]);
  // Some libraries only link to the Apache License, which must be distributed in full.
  if (libraries.some(({ license }) => license === "Apache-2.0")) {
    const whole = standard("Apache-2.0");
    if (!libraries.some(({ text }) => text === whole)) sections.push(["The whole Apache License 2.0", "", whole]);
  }
  const intro = "This package contains the following software of others, each under its own licence.";
  return `${[[intro], ...sections].map((lines) => lines.join("\n")).join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
