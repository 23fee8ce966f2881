import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

export interface DemoServer {
  url: string;
  owner: { email: string; password: string };
  /** Ends the program and deletes its data. */
  stop(): Promise<void>;
}

/** Starts the built program on an embedded database of its own, with these settings besides. */
export async function startServer(settings: Readonly<Record<string, string>>): Promise<DemoServer> {
  const directory = mkdtempSync(join(tmpdir(), "agent-engine-demo-"));
  const owner = { email: "ada@example.com", password: "only-for-this-demo" };
  const child = spawn(process.execPath, [program, "serve"], {
    cwd: directory,
    env: {
      PATH: process.env.PATH ?? "",
      TMPDIR: tmpdir(),
      DATA_DIR: directory,
      HOST: "127.0.0.1",
      PORT: "0",
      OWNER_EMAIL: owner.email,
      OWNER_PASSWORD: owner.password,
      ...settings,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill();
      await once(child, "exit");
    }
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    return { url: await addressOf(child), owner, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The address in the line of the log that says where the program listens; its other lines go to this terminal. */
function addressOf({ stderr }: ChildProcess): Promise<string> {
  if (!stderr) throw new Error("The program has no log");
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: stderr });
    lines.on("line", (line) => {
      const [, url] = /"address":"(http:[^"]+)"/.exec(line) ?? [];
      if (url !== undefined) resolve(url);
      else if (/"level":"(warn|error)"/.test(line) || !line.startsWith("{")) process.stderr.write(`${line}\n`);
    });
    lines.on("close", () => reject(new Error("The program ended before it listened")));
  });
}
