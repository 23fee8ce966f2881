import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** These tests start what users start, so it is built first. */
export function setup(): void {
  const script = fileURLToPath(new URL("../../scripts/build.ts", import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [script], { encoding: "utf8" });
  if (status !== 0) throw new Error(`The build failed:\n${stderr}`);
}
