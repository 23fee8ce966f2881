import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";
import manifest from "../package.json" with { type: "json" };

const root = new URL("../", import.meta.url);
const path = (name: string) => new URL(name, root).pathname;

mkdirSync(path("dist"), { recursive: true });
await bundle();
buildTemplate();

/** One file for the program and one for the database's thread. Loading their libraries apart takes ten times as long. */
async function bundle(): Promise<void> {
  await build({
    absWorkingDir: path("."),
    entryPoints: { cli: "src/cli.ts", "embedded-worker": "src/adapters/node/embedded-worker.ts" },
    outdir: "dist",
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node22",
    // Finds its WebAssembly files beside itself, so it stays a package of its own.
    external: Object.keys(manifest.dependencies),
    // CommonJS libraries call `require`, which ES modules lack.
    banner: {
      js: 'import { createRequire as createRequireOfBundle } from "node:module";\nconst require = createRequireOfBundle(import.meta.url);',
    },
    logLevel: "warning",
  });
  const program = path("dist/cli.js");
  writeFileSync(program, `#!/usr/bin/env node\n${readFileSync(program, "utf8")}`);
  chmodSync(program, 0o755);
}

/** The embedded database as a first start wants it, made again when the migrations or the database's version changed. */
function buildTemplate(): void {
  const stamp = createHash("sha256").update(manifest.dependencies["@electric-sql/pglite"]);
  for (const file of readdirSync(path("drizzle")).sort()) {
    if (file.endsWith(".sql")) stamp.update(file).update(readFileSync(path(`drizzle/${file}`)));
  }
  const key = stamp.digest("hex");
  const stampFile = path("dist/template.key");
  if (existsSync(path("dist/template.tar.gz")) && existsSync(stampFile) && readFileSync(stampFile, "utf8") === key)
    return;
  const made = spawnSync(process.execPath, [path("scripts/make-template.ts")], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (made.status !== 0) process.exit(1);
  writeFileSync(stampFile, key);
}
