import { readFileSync } from "node:fs";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { systemClock } from "../../src/adapters/node/clock.ts";
import { createMcp } from "../../src/adapters/node/mcp/servers.ts";
import type { Clock, Log, Mcp, McpServer, McpTransport } from "../../src/core/ports.ts";

/** A credential that must not be shown anywhere. */
export const canary = "canary-9f2c1e7b44d0";

const environment = { PATH: process.env.PATH, HOME: "/nonexistent", AWS_SECRET_ACCESS_KEY: "not-for-children" };

export const never = new AbortController().signal;

type Stdio = Extract<McpTransport, { type: "stdio" }>;

/** The server of the fixtures with this behaviour. */
export function behaving(behaviour: string, ...args: string[]): Stdio {
  const file = fileURLToPath(new URL("../fixtures/mcp/server.ts", import.meta.url));
  return { type: "stdio", command: execPath, args: [file, behaviour, ...args], env: { API_TOKEN: canary } };
}

/** A reference server of the protocol's authors. */
export function reference(name: "everything" | "memory", env: Record<string, string> = {}): Stdio {
  const file = fileURLToPath(import.meta.resolve(`@modelcontextprotocol/server-${name}/dist/index.js`));
  return { type: "stdio", command: execPath, args: [file], env };
}

export const http = (url: string, headers: Record<string, string> = {}): McpTransport => ({
  type: "http",
  url,
  headers,
});

/** A server as the engine stores it: by default it may be on this machine. */
export function server(transport: McpTransport, more: Partial<McpServer> = {}): McpServer {
  const allowedHosts = ["localhost", "127.0.0.1"];
  return { id: "acme:test", version: "1", name: "test", transport, secrets: [canary], allowedHosts, ...more };
}

export const tool = (name: string) => ({ name, description: "", inputSchema: { type: "object" } });

/** The machine's, but a server may take any time to answer: its 15 seconds have tests of their own. */
const patientClock: Clock = {
  ...systemClock,
  after: (ms, fn) => (ms === 15_000 ? () => {} : systemClock.after(ms, fn)),
};

/** The adapter, closed after the test, and what it logs. */
export function connections(options: Partial<Parameters<typeof createMcp>[0]> = {}): { mcp: Mcp; logs: string[] } {
  const logs: string[] = [];
  const line = (fields: Record<string, unknown>, message: string) =>
    void logs.push(JSON.stringify({ ...fields, message }));
  const log: Log = { debug: line, info: line, warn: line, error: line, child: () => log };
  const mcp = createMcp({ clock: patientClock, log, environment, ...options });
  onTestFinished(() => mcp.close());
  return { mcp, logs };
}

/** The signal of a caller that gives up after this time. */
export const giveUpAfter = (ms: number) => AbortSignal.timeout(ms);

/** Whether a process with this id exists. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // An ended process stays listed until its parent waits for it, which not every container's first process does.
  return process.platform !== "linux" || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
}
