import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

export interface Cores {
  /** The core of the measured servers, which use it in turn. */
  server: number;
  /** The cores of the load, the model server and PostgreSQL. */
  rest: number[];
}

/** How the cores are divided; null with only one core, or without `taskset`. */
export const cores: Cores | null = shareOut();

function shareOut(): Cores | null {
  if (process.platform !== "linux" || spawnSync("taskset", ["--version"]).status !== 0) return null;
  const list = /^Cpus_allowed_list:\s+(\S+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "";
  const allowed = list.split(",").flatMap((range) => {
    const [first = 0, last = first] = range.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
  const server = allowed.pop();
  return server !== undefined && allowed.length > 0 ? { server, rest: allowed } : null;
}

/** Moves this process, and those it starts from now on, off the servers' core. */
export function stepAside(): void {
  if (cores) execFileSync("taskset", ["-acp", cores.rest.join(","), String(process.pid)]);
}

/** The command that starts a measured server, which stays on its core. */
export function onServerCore(words: string[]): [string, ...string[]] {
  const [program = process.execPath, ...rest] = words;
  return cores ? ["taskset", "-c", String(cores.server), program, ...rest] : [program, ...rest];
}
