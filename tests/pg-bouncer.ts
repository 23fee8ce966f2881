import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { expect } from "vitest";
import { freePort } from "./postgres-node.ts";
import { readPages, textsIn } from "./runtime/pages.ts";
import { atEnd, dataDirectory } from "./runtime/program.ts";

export const pgBouncer = "/usr/sbin/pgbouncer";

/** PgBouncer with the file of docs/high-availability.md, and with `more` lines, in front of the server of `url`. */
export async function startPgBouncer(url: string, more = "") {
  const directory = dataDirectory();
  const own = await freePort();
  const page = readPages().find(({ name }) => name === "docs/high-availability.md");
  const [text = ""] = page ? textsIn(page, "ini").filter((one) => one.includes("[pgbouncer]")) : [];
  const changed = text
    .replace(/^agent_engine = .*$/m, `* = host=127.0.0.1 port=${new URL(url).port}`)
    .replace(/^listen_port = .*$/m, `listen_port = ${own}`)
    .replace(/^auth_type = .*$/m, "auth_type = trust")
    .replace(/^auth_file = .*$/m, `auth_file = ${directory}/userlist.txt\nunix_socket_dir =`);
  writeFileSync(join(directory, "pgbouncer.ini"), `${changed}\n${more}`);
  writeFileSync(join(directory, "userlist.txt"), '"postgres" ""\n');
  // It refuses to run as root.
  const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  if (nobody.uid) chownSync(directory, nobody.uid, nobody.gid);
  const begin = async () => {
    const child = spawn(pgBouncer, [join(directory, "pgbouncer.ini")], { ...nobody, stdio: "ignore" });
    atEnd(() => void child.kill("SIGKILL"));
    await expect.poll(() => isOpen(own)).toBe(true);
    return child;
  };
  let running = await begin();
  return {
    /** The address of the same database. */
    url: `postgres://postgres@127.0.0.1:${own}${new URL(url).pathname}`,
    /** Kills it and starts it again. */
    async kill(): Promise<void> {
      running.kill("SIGKILL");
      await once(running, "exit");
      running = await begin();
    },
  };
}

/** Whether something listens on the port. */
export function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.end());
  });
}
