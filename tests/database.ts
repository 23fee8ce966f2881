import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../src/adapters/node/clock.ts";
import { EngineError } from "../src/core/errors.ts";
import { type Database, databaseOn, type Target } from "../src/db/client.ts";
import { openPool, type Pool } from "../src/db/pool/pool.ts";
import { startEmbedded } from "./embedded.ts";
import { createDatabase, startPostgres } from "./real-postgres.ts";

export type Dialect = "pglite" | "postgres";

/** The database of this run's tests: `TEST_DIALECT`, PGlite unless that is set. */
export const dialect: Dialect = process.env.TEST_DIALECT === "postgres" ? "postgres" : "pglite";

interface Server {
  dialect: Dialect;
  target: Target;
  pool: Pool;
}

/**
 * Databases that no test uses now, with connections that know the statements of earlier tests: emptying one is faster
 * than making one, and a new connection of PostgreSQL reads the catalogue anew for each table. All files of this worker
 * share them.
 */
const idle: Server[] = [];

interface TestDatabase {
  database: Database;
  close(): Promise<void>;
}

/** An empty database with the schema of this release, for the caller alone until `close`. */
export async function openTestDatabase(options: { dialect?: Dialect } = {}): Promise<TestDatabase> {
  const wanted = options.dialect ?? dialect;
  const used = idle.findIndex((candidate) => candidate.dialect === wanted);
  const server = idle.splice(used, used < 0 ? 0 : 1)[0] ?? (await start(wanted));
  if (used >= 0) await empty(server);
  const lent = lend(server.pool);
  const close = async () => {
    await lent.close();
    if (await isAtRest(server.pool)) idle.push(server);
    else {
      // A test left an open transaction, or a statement that hangs.
      await server.pool.close();
      idle.push(serverAt(server.dialect, server.target));
    }
  };
  return { database: databaseOn(lent), close };
}

/** A pool for one test: statements that the test left running can't reach the next test's database. */
function lend(pool: Pool): Pool {
  let closed = false;
  const lent = <T>(use: () => Promise<T>): Promise<T> =>
    closed ? Promise.reject(new EngineError("unavailable", "The database is closed")) : use();
  return {
    run: (...statement) => lent(() => pool.run(...statement)),
    reserve: () => lent(() => pool.reserve()),
    use: pool.use,
    isUsable: pool.isUsable,
    async close() {
      closed = true;
    },
  };
}

/** Whether all statements and transactions ended, if necessary within the time that a closing pool gives them. */
async function isAtRest({ use }: Pool): Promise<boolean> {
  for (const until = Date.now() + 5_000; Date.now() < until; await sleep(5)) {
    const { busy, waiting } = use();
    if (busy + waiting === 0) return true;
  }
  return false;
}

function serverAt(dialect: Dialect, target: Target): Server {
  const max = dialect === "pglite" ? 1 : 10;
  return { dialect, target, pool: openPool(target, { max, prepare: true, deadlineMs: 30_000, clock: systemClock }) };
}

const start = (wanted: Dialect) => (wanted === "pglite" ? startPglite() : startOnPostgres());

async function startPglite(): Promise<Server> {
  return serverAt("pglite", (await startEmbedded()).target);
}

async function startOnPostgres(): Promise<Server> {
  const server = await startPostgres();
  if (!server) throw new Error("There is no PostgreSQL for this platform: set TEST_DATABASE_URL");
  return serverAt("postgres", { url: await createDatabase(server.url) });
}

/** Deleting from tables that are mostly empty is ten times as fast as truncating them. */
async function empty({ pool }: Server): Promise<void> {
  const database = databaseOn(pool);
  const tables = await database.query<{ name: string }>(
    "select quote_ident(tablename) as name from pg_tables where schemaname = $1",
    ["public"],
  );
  const statements = tables.map(({ name }) => `delete from ${name}`).join("; ");
  await database.query(
    `begin; set local session_replication_role = replica; ${statements}; set local session_replication_role = origin; commit`,
    [],
  );
}
