import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import type { Clock, McpTransport } from "../../../core/ports.ts";

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

const graceMs = 2_000;
/** How long output may linger that a process outside the group holds open. */
const lingerMs = 1_000;

/** A process with a group of its own, so that whatever it starts ends with it. */
export interface Process {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** How it ended, once it has and all its output was read. */
  readonly ended: Promise<string>;
  /** Asks it to end, and makes it after two seconds. Resolves when it has. */
  stop(): Promise<void>;
}

/** Starts the process with the given environment and nothing more; rejects with what a person can do something about. */
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
    // Once it has ended its number may be another's.
    if (child.exitCode !== null || child.signalCode !== null) return ended;
    killGroup(child, "SIGTERM");
    return ended.finally(clock.after(graceMs, () => killGroup(child, "SIGKILL")));
  };
  const { stdin, stdout, stderr } = child;
  return {
    ...{ stdin, stdout, stderr, ended },
    async stop() {
      stopping ??= stop();
      await stopping;
    },
  };
}

function cannotStart(error: unknown): Error {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOENT") return new Error("The command was not found on the server's PATH");
  if (code === "EACCES") return new Error("The command may not be run by the server's user");
  return new Error(`The process could not be started${code === "" ? "" : ` (${code})`}`);
}

function killGroup(child: Child, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group is gone, or the platform has none.
    child.kill(signal);
  }
}
