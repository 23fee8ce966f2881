// Makes a release of the changes since the last one: its number, its section of CHANGELOG.md, its documents.
import { spawnSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

// npm runs the script "version" itself, in the middle of its own bump.
if (process.env.npm_command === "version") {
  console.error('The changesets decide which version is next. Run "npm run version" instead of "npm version".');
  process.exit(1);
}

run("changeset", "version");
run("npm", "install", "--package-lock-only", "--ignore-scripts");
run("npm", "run", "--silent", "generate");
copyFileSync(path("openapi/openapi.json"), path("openapi/released.json"));

function run(program: string, ...args: string[]): void {
  const { status } = spawnSync(program, args, {
    cwd: path("."),
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (status !== 0) process.exit(status ?? 1);
}

function path(name: string): string {
  return fileURLToPath(new URL(`../${name}`, import.meta.url));
}
