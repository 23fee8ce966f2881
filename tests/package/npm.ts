import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { follow, type Program } from "../runtime/program.ts";

export const root = fileURLToPath(new URL("../../", import.meta.url));

type Environment = Record<string, string>;

/** npm's downloads, shared by all tests of a file. */
const cache = join(tmpdir(), `agent-engine-npm-${process.pid}`);

/** The environment of a stranger's shell: nothing of this checkout, of npm's own runs, or of a developer's keys. */
function strangersEnvironment(): Environment {
  const reachesRegistry =
    /^(HOME|USERPROFILE|TMPDIR|TEMP|.*_proxy|NODE_EXTRA_CA_CERTS|npm_config_(registry|userconfig|cafile))$/i;
  const kept = Object.entries(process.env).filter(([name]) => reachesRegistry.test(name)) as [string, string][];
  const path = (process.env.PATH ?? "").split(delimiter).filter((place) => !place.includes("node_modules"));
  return {
    ...Object.fromEntries(kept),
    // The Node of this run, by its real path: an older one may be first on the machine.
    PATH: [dirname(process.execPath), ...path].join(delimiter),
    npm_config_cache: cache,
    npm_config_prefer_offline: "true",
    npm_config_update_notifier: "false",
  };
}

export interface Packed {
  /** The tarball. */
  file: string;
  /** Paths within it. */
  files: string[];
  remove(): void;
}

/** Makes the tarball that would be published, from the current `dist/`. */
export function pack(): Packed {
  const folder = mkdtempSync(join(tmpdir(), "package-"));
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const { status, stdout, stderr } = spawnSync("npm", args, {
    cwd: root,
    env: strangersEnvironment(),
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`npm pack failed:\n${stderr}`);
  const made = Object.values(JSON.parse(stdout) as Record<string, { filename: string; files: { path: string }[] }>)[0];
  if (!made) throw new Error(`npm pack made nothing:\n${stdout}`);
  return {
    file: join(folder, made.filename),
    files: made.files.map(({ path }) => path),
    remove() {
      for (const path of [folder, cache]) rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Starts a program in `folder` and in a process group of its own, as a terminal does. */
export function startIn(folder: string, command: string, args: string[], environment: Environment = {}): Program {
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...strangersEnvironment(), PORT: "0", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  return follow(child);
}

/** Runs a program in `folder` to its end; throws with what it printed when it fails. */
export function runIn(folder: string, command: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: folder,
    env: strangersEnvironment(),
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
}

/** The manifest of an installed package, or of the checkout. */
export function readManifest(folder: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<string, unknown>;
}
