import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** These tests run the built program, so it is built first, unless the caller has just built it. No test begins before. */
export function setup(): void {
  if (process.env.TEST_BUILT) return;
  const script = fileURLToPath(new URL("../../scripts/build.ts", import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [script], { encoding: "utf8" });
  if (status !== 0) throw new Error(`The build failed:\n${stderr}`);
}
