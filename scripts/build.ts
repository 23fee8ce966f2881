// Makes dist/: the program, its threads (database, passwords, scripts), the template of a fresh database, the sandbox of
// scripts, and the fonts of documents.
import { chmodSync, copyFileSync, mkdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import manifest from "../package.json" with { type: "json" };
import { fontFiles } from "../src/adapters/node/fonts.ts";
import { buildModules } from "./build-modules.ts";
import { buildPanel } from "./build-panel.ts";
import { copyDocs } from "./copy-docs.ts";
import { template } from "./make-template.ts";
import { writeLicenses } from "./write-licenses.ts";

const path = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));

// The parts' names change with their contents, so earlier builds' parts would stay.
rmSync(path("dist"), { recursive: true, force: true });
// Without a bundle, loading the libraries one by one from node_modules takes ten times as long.
const { metafile } = await build({
  absWorkingDir: path("."),
  entryPoints: {
    cli: "src/cli.ts",
    "embedded-worker": "src/adapters/node/embedded/worker.ts",
    "password-worker": "src/adapters/node/password/worker.ts",
    "scripts-worker": "src/adapters/node/scripts/worker.ts",
  },
  outdir: "dist",
  bundle: true,
  // Code that not every start needs, such as the model providers' packages, loads when used.
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node22",
  // PGlite finds its WebAssembly files next to itself, so it stays a separate package.
  external: Object.keys(manifest.dependencies),
  // CommonJS libraries call `require`, which ES modules lack.
  banner: {
    js: 'import { createRequire as requireOfBundle } from "node:module";\nconst require = requireOfBundle(import.meta.url);',
  },
  metafile: true,
  logLevel: "warning",
});
chmodSync(path("dist/cli.js"), 0o755);
copyFileSync(await template(), path("dist/template.tar.gz"));
copyFileSync(fileURLToPath(import.meta.resolve("@jitl/quickjs-wasmfile-release-sync/wasm")), path("dist/scripts.wasm"));
mkdirSync(path("dist/fonts"));
for (const [name, file] of Object.entries(fontFiles)) {
  copyFileSync(fileURLToPath(import.meta.resolve(file)), path(`dist/fonts/${name}.ttf`));
}
await buildModules();
const panel = await buildPanel();
copyDocs();
const outputs = { ...metafile.outputs, ...panel.outputs };
writeLicenses({ inputs: {}, outputs }, ["swagger-ui-dist", ...Object.values(fontFiles)]);
