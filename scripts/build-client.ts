import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const path = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));

/** Makes dist/client: one module for browsers, Node, Bun and Deno, and its types. */
export async function buildClient(): Promise<void> {
  await build({
    absWorkingDir: path("."),
    entryPoints: ["src/client/index.ts"],
    outdir: "dist/client",
    bundle: true,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    logLevel: "warning",
  });
  const { status } = spawnSync(
    process.execPath,
    [path("node_modules/typescript/bin/tsc"), "-p", "tsconfig.client.json"],
    {
      cwd: path("."),
      stdio: "inherit",
    },
  );
  if (status !== 0) throw new Error("The client's types do not compile");
}
