import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Server } from "node:http";
import { createServer } from "node:net";

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

/** Starts a script of this folder that announces its port. */
export async function startScript(name: string, env: Record<string, string> = {}): Promise<ServerProcess> {
  const child = fork(new URL(name, import.meta.url), { env: { ...process.env, ...env } });
  const port = await new Promise<number>((resolve, reject) => {
    child.once("message", (message) => resolve((message as { port: number }).port));
    child.once("exit", (code) => reject(new Error(`${name} ended with ${code} before it was ready`)));
  });
  return asServer(child, port);
}

export function asServer(child: ChildProcess, port: number): ServerProcess {
  const { pid } = child;
  if (pid === undefined) throw new Error("A server did not start");
  return {
    url: `http://127.0.0.1:${port}`,
    pid,
    async stop() {
      if (child.exitCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

/** CPU time that a process has used with all its threads, in milliseconds, as the system counts it. */
export function cpuMs(pid: number): number {
  if (process.platform === "linux") {
    // The name in parentheses may hold spaces; user and system time are the 12th and 13th fields after it.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) * (1000 / ticksPerSecond);
  }
  const [seconds = "0", ...larger] = execFileSync("ps", ["-o", "time=", "-p", String(pid)], { encoding: "utf8" })
    .trim()
    .split(/[:-]/)
    .reverse();
  const [minutes = 0, hours = 0, days = 0] = larger.map(Number);
  return (Number(seconds) + 60 * (minutes + 60 * (hours + 24 * days))) * 1000;
}

/** What Linux counts CPU time in, on every platform that Node runs on. */
const ticksPerSecond = 100;

/** Resident memory of a process. */
export function memoryKiB(pid: number): number {
  if (process.platform === "linux") {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  }
  return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" }));
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
