import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { template } from "../../scripts/make-template.ts";
import { systemClock } from "../../src/adapters/node/clock.ts";
import { openEmbedded } from "../../src/adapters/node/embedded/database.ts";
import { type Database, openDatabase } from "../../src/db/client.ts";
import { silent } from "../embedded.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** A script of this folder as a bundle, for the tests of a file: that starts ten times as fast. */
export function bundled(script: string) {
  const folder = join(root, "node_modules/.cache/agent-engine", `crash-${script}-${process.pid}`);
  beforeAll(async () => {
    await build({
      absWorkingDir: root,
      entryPoints: { [script]: `tests/crash/${script}.ts`, "embedded-worker": "src/adapters/node/embedded/worker.ts" },
      outdir: folder,
      bundle: true,
      // What a script loads only when it uses it stays in files of its own.
      splitting: true,
      format: "esm",
      platform: "node",
      external: ["@electric-sql/pglite"],
      banner: {
        js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
      },
      logLevel: "warning",
    });
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const start = (...args: string[]) => {
    // With room for young objects it collects none of them while it loads, which takes a tenth of its time otherwise.
    const child = spawn(process.execPath, ["--min-semi-space-size=32", join(folder, `${script}.js`), ...args], {
      env: { ...process.env, NODE_COMPILE_CACHE: join(folder, "compile-cache") },
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const output = { stdout: "", stderr: "" };
    for (const stream of ["stdout", "stderr"] as const) {
      child[stream].setEncoding("utf8").on("data", (text: string) => {
        output[stream] += text;
      });
    }
    const ended = new Promise((resolve) => child.once("close", (code, signal) => resolve(signal ?? code)));
    return { child, ended, output };
  };

  return {
    /** Starts it. `ended` becomes the signal or the exit code, `output` is its output so far. */
    start,
    /** Runs it to its end: the signal or the exit code, and its output. */
    async run(...args: string[]) {
      const { ended, output } = start(...args);
      return { ended: await ended, ...output };
    },
  };
}

export type Bundle = ReturnType<typeof bundled>;

/** The victims' connections. The server finishes a killed process's statements before it closes them. */
export async function victimsConnections(database: Database): Promise<number> {
  return (
    await database.query(
      "select from pg_stat_activity where application_name = 'victim' and datname = current_database()",
      [],
    )
  ).length;
}

/** A directory for an embedded database, which one process at a time opens. */
export function crashDirectory() {
  const directory = mkdtempSync(join(tmpdir(), "crash-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const open = async () => {
    const { target, close } = await openEmbedded(directory, silent, await template());
    const database = openDatabase(target, { max: 1, prepare: true, deadlineMs: 10_000, clock: systemClock });
    const closeBoth = async () => {
      await database.close();
      await close();
    };
    return { database, close: closeBoth };
  };
  return { directory, open };
}
