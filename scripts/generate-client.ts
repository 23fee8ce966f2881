// Writes src/client/generated from openapi/openapi.json. With `--check` it only compares.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Document } from "./client/document.ts";
import { writeOperations, writeTypes } from "./client/operations.ts";

const path = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const folder = "src/client/generated";
const check = process.argv.includes("--check");

const document = JSON.parse(readFileSync(path("openapi/openapi.json"), "utf8")) as Document;
mkdirSync(path(folder), { recursive: true });
const stale = [
  update(`${folder}/types.ts`, writeTypes(document)),
  update(`${folder}/operations.ts`, writeOperations(document)),
];
if (check && stale.includes(true)) {
  console.error(`${folder} differs from openapi/openapi.json; run: npm run generate`);
  process.exitCode = 1;
}

/** Writes the file unless `check` is set. Returns whether its text differed. */
function update(name: string, source: string): boolean {
  const text = format(name, source);
  if (text === read(path(name))) return false;
  if (!check) writeFileSync(path(name), text);
  return true;
}

function format(name: string, source: string): string {
  const args = ["format", `--stdin-file-path=${name}`];
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [path("node_modules/@biomejs/biome/bin/biome"), ...args],
    {
      cwd: path("."),
      input: source,
      encoding: "utf8",
    },
  );
  if (status !== 0) throw new Error(`biome cannot format ${name}: ${stderr}`);
  return stdout;
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
