import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const path = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));

/** A module exported by the package: its source, its folder in dist, and the project that declares its types. */
interface ExportedModule {
  entry: string;
  folder: string;
  project: string;
}

/** `agent-engine/client` and `agent-engine/plugin`: one module each for browsers, Node, Bun and Deno, and its types. */
const modules: readonly ExportedModule[] = [
  { entry: "src/client/index.ts", folder: "dist/client", project: "tsconfig.client.json" },
  { entry: "src/core/plugins/plugin.ts", folder: "dist/plugin", project: "tsconfig.plugin.json" },
];

export async function buildModules(): Promise<void> {
  for (const { entry, folder, project } of modules) {
    await build({
      absWorkingDir: path("."),
      entryPoints: { index: entry },
      outdir: folder,
      bundle: true,
      format: "esm",
      platform: "neutral",
      target: "es2022",
      logLevel: "warning",
    });
    declareTypes(project);
  }
}

function declareTypes(project: string): void {
  const { status } = spawnSync(process.execPath, [path("node_modules/typescript/bin/tsc"), "-p", project], {
    cwd: path("."),
    stdio: "inherit",
  });
  if (status !== 0) throw new Error(`The types of ${project} do not compile`);
}
