import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { Server } from "node:http";
import { onServerCore } from "./cores.ts";

export interface ServerProcess {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

/** In a child: listens on a free port and tells the parent which. */
export function announce(server: Server): void {
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (address && typeof address === "object") process.send?.({ port: address.port });
  });
}

/** Starts a script, of this folder unless its path says otherwise, that announces its port. */
export async function startScript(
  name: string,
  env: Record<string, string> = {},
  [execPath, ...execArgv]: [string, ...string[]] = [process.execPath],
): Promise<ServerProcess> {
  const child = fork(new URL(name, import.meta.url), {
    env: { ...process.env, ...env },
    execPath,
    execArgv,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const port = await new Promise<number>((resolve, reject) => {
    child.once("message", (message) => resolve((message as { port: number }).port));
    child.once("exit", (code) => reject(new Error(`${name} ended with ${code} before it was ready`)));
  });
  return asServer(child, port);
}

/** The same on the core of the measured servers. */
export function startMeasured(name: string, env: Record<string, string>): Promise<ServerProcess> {
  return startScript(name, env, onServerCore([process.execPath]));
}

export function asServer(child: ChildProcess, port: number): ServerProcess {
  const { pid } = child;
  if (pid === undefined) throw new Error("A server did not start");
  return {
    url: `http://127.0.0.1:${port}`,
    pid,
    async stop() {
      if (child.exitCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), 10_000);
      await ended;
      clearTimeout(late);
    },
  };
}

/** CPU time that a process has used with all its threads, in milliseconds, as the system counts it. */
export function cpuMs(pid: number): number {
  const threads = `/proc/${pid}/task`;
  if (existsSync(`${threads}/${pid}/schedstat`)) {
    return readdirSync(threads).reduce((sum, thread) => sum + threadMs(`${threads}/${thread}/schedstat`), 0);
  }
  const [seconds = "0", ...larger] = execFileSync("ps", ["-o", "time=", "-p", String(pid)], { encoding: "utf8" })
    .trim()
    .split(/[:-]/)
    .reverse();
  const [minutes = 0, hours = 0, days = 0] = larger.map(Number);
  return (Number(seconds) + 60 * (minutes + 60 * (hours + 24 * days))) * 1000;
}

/** In steps of nanoseconds, where `stat` counts in hundredths of a second. */
function threadMs(path: string): number {
  try {
    return Number(readFileSync(path, "utf8").split(" ")[0]) / 1e6;
  } catch {
    // The thread has ended since it was listed.
    return 0;
  }
}

/** Resident memory of a process. */
export function memoryKiB(pid: number): number {
  if (process.platform === "linux") {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  }
  return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" }));
}
