import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import type { Clock, McpTransport } from "../../../core/ports.ts";
import { errorCode } from "../error-code.ts";

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

const graceMs = 2_000;
/** In milliseconds: how long after the exit a process outside the group may keep the output open. */
const lingerMs = 1_000;

/** A process with a group of its own, so that processes which it starts end together with it. */
export interface Process {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** How the process ended. Resolves after its end, when all output was read. */
  readonly ended: Promise<string>;
  /** Sends SIGTERM, and SIGKILL after two seconds. Resolves when the process has ended. */
  stop(): Promise<void>;
}

/** Starts the process with the given environment only. Rejects with an error about a wrong command. */
export async function startProcess(
  { command, args, env }: Extract<McpTransport, { type: "stdio" }>,
  clock: Clock,
): Promise<Process> {
  const child = spawn(command, args, { env: { ...env }, stdio: ["pipe", "pipe", "pipe"], detached: true });
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", () => {});
  const ended = new Promise<string>((resolve) => {
    child.once("close", (code, signal) => resolve(signal ? `was ended by ${signal}` : `ended with code ${code}`));
  });
  child.once("exit", () => {
    killGroup(child, "SIGKILL");
    const cancel = clock.after(lingerMs, () => {
      child.stdout.destroy();
      child.stderr.destroy();
    });
    void ended.then(cancel);
  });
  child.on("error", () => {});
  await once(child, "spawn").catch((error: unknown) => {
    throw cannotStart(error);
  });

  let stopping: Promise<unknown> | undefined;
  const stop = () => {
    child.stdin.destroy();
    // Not after its end, when another process may have its number.
    if (child.exitCode !== null || child.signalCode !== null) return ended;
    killGroup(child, "SIGTERM");
    return ended.finally(clock.after(graceMs, () => killGroup(child, "SIGKILL")));
  };
  const { stdin, stdout, stderr } = child;
  return {
    stdin,
    stdout,
    stderr,
    ended,
    async stop() {
      stopping ??= stop();
      await stopping;
    },
  };
}

function cannotStart(error: unknown): Error {
  const code = errorCode(error);
  if (code === "ENOENT") return new Error("The command was not found on the server's PATH");
  if (code === "EACCES") return new Error("The command may not be run by the server's user");
  return new Error(`The process could not be started${code === "" ? "" : ` (${code})`}`);
}

function killGroup(child: Child, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group has ended already, or the platform has no groups.
    child.kill(signal);
  }
}
