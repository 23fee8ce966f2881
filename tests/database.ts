import { systemClock } from "../src/adapters/node/clock.ts";
import { type Database, openDatabase, type Target } from "../src/db/client.ts";
import { startEmbedded } from "./embedded.ts";
import { createDatabase, startPostgres } from "./real-postgres.ts";
import { sharedEmbedded } from "./shared-embedded.ts";

export type Dialect = "pglite" | "postgres";

/** The database of this run's tests: `TEST_DIALECT`, PGlite unless that is set. */
export const dialect: Dialect = process.env.TEST_DIALECT === "postgres" ? "postgres" : "pglite";

interface Server {
  dialect: Dialect;
  target: Target;
}

/** Databases that no test uses now. All files of this worker share them: emptying one is faster than making one. */
const idle: Server[] = [];
let started = 0;

interface TestDatabase {
  database: Database;
  close(): Promise<void>;
}

/** An empty database with the schema of this release, for the caller alone until `close`. */
export async function openTestDatabase(options: { dialect?: Dialect } = {}): Promise<TestDatabase> {
  const wanted = options.dialect ?? dialect;
  const used = idle.findIndex((candidate) => candidate.dialect === wanted);
  const server = idle.splice(used, used < 0 ? 0 : 1)[0] ?? (await start(wanted));
  const database = openServer(server);
  if (used >= 0) await empty(database);
  const close = async () => {
    await database.close();
    idle.push(server);
  };
  return { database, close };
}

function openServer({ dialect, target }: Pick<Server, "dialect" | "target">): Database {
  const max = dialect === "pglite" ? 1 : 10;
  return openDatabase(target, { max, prepare: true, deadlineMs: 30_000, clock: systemClock });
}

const start = (wanted: Dialect) => (wanted === "pglite" ? startPglite() : startOnPostgres());

async function startPglite(): Promise<Server> {
  const shared = await sharedEmbedded(started);
  if (shared) {
    started += 1;
    const server = { dialect: "pglite", target: shared } as const;
    const database = openServer(server);
    // Other files of tests left rows, and the space that rows took.
    await empty(database);
    await database.query("vacuum", []);
    await database.close();
    return server;
  }
  const { target } = await startEmbedded();
  return { dialect: "pglite", target };
}

async function startOnPostgres(): Promise<Server> {
  const server = await startPostgres();
  if (!server) throw new Error("There is no PostgreSQL for this platform: set TEST_DATABASE_URL");
  return { dialect: "postgres", target: { url: await createDatabase(server.url) } };
}

/** Deleting from tables that are mostly empty is ten times as fast as truncating them. */
async function empty(database: Database): Promise<void> {
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
