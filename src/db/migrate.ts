import { StartError } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";
import { withinTime } from "../core/time/deadline.ts";
import type { Parameter, Target } from "./pool/connection.ts";
import { sqlState, tooLate } from "./pool/failures.ts";
import { openConnection } from "./pool/open-connection.ts";
import { foreignSettings } from "./pool/server-options.ts";
import { unlessDeadlocked } from "./retry.ts";

/** A migration, as Drizzle reads it from the folder. */
export interface Migration {
  sql: readonly string[];
  /** When the migration was made, in milliseconds since the epoch. Drizzle uses it as the id. */
  folderMillis: number;
  hash: string;
}

interface ServerFacts {
  /** `server_version_num`, such as 150004. */
  version: number;
  /** The encoding of the database, such as `UTF8`. */
  encoding: string;
  /** Session settings that would change results, as texts for the operator. */
  foreign: string[];
}

/** Any number; all releases use the same. */
const lockKey = 7_263_401_165;

/** How long to wait for another migrating replica (`waitForStarter`), and for running statements (`waitForTable`). */
const waitForStarter = "10min";
const waitForTable = "10s";

/**
 * Brings the schema up to this release on a connection of its own; returns the number of applied migrations. When
 * replicas start together, one migrates and the others wait. Everything runs in one transaction, which also holds the
 * lock: behind a transaction pooler, a session's lock would stay on a shared connection. Rejects with a `StartError`
 * when this release does not support the server or its schema, and with the driver's error when the server can't be
 * reached.
 */
export async function migrate(
  target: Target,
  migrations: readonly Migration[],
  { clock, timeoutMs }: { clock: Clock; timeoutMs: number },
): Promise<number> {
  const connection = openConnection(target, { prepare: false, clock, statementTimeoutMs: timeoutMs });
  const run: RunText = (text, parameters = []) => connection.run(text, parameters, "objects");
  try {
    const server = await withinTime(clock, timeoutMs, tooLate(), () => readFacts(run, target, timeoutMs));
    if (server.known && pendingMigrations(migrations, await readApplied(run)).length === 0) return 0;
    return await applyMigrations(run, migrations).catch((error: unknown) => {
      throw explain(error);
    });
  } finally {
    connection.destroy();
  }
}

const facts = `
  select current_setting('server_version_num')::int as version, pg_encoding_to_char(encoding) as encoding,
    ${foreignSettings} as foreign, (select setting::int from pg_settings where name = 'statement_timeout') as "timeoutMs",
    to_regclass('drizzle.__drizzle_migrations') is not null as known
  from pg_database where datname = current_database()`;

interface FoundFacts extends ServerFacts {
  /** The session's `statement_timeout`. */
  timeoutMs: number;
  /** Whether the schema was made. */
  known: boolean;
}

/** Throws a `StartError` for an unsupported server, and for a pooler that hides the settings of the session. */
async function readFacts(run: RunText, target: Target, timeoutMs: number): Promise<FoundFacts> {
  const [server] = (await run(facts)) as readonly FoundFacts[];
  if (!server) throw new StartError("The database does not know itself: pg_database has no row for it");
  if ("url" in target && !target.pooled && server.timeoutMs !== timeoutMs) {
    throw new StartError(
      "A pooler in front of PostgreSQL ignores the settings of sessions: set DATABASE_PREPARE=false, or reach PostgreSQL without it",
    );
  }
  checkServer(server);
  return server;
}

/** As text: a role's `extra_float_digits` may round a float, which the driver would need. */
async function readApplied(run: RunText): Promise<{ at: number }[]> {
  const rows = await run("select created_at::text as at from drizzle.__drizzle_migrations");
  return (rows as readonly { at: string }[]).map(({ at }) => ({ at: Number(at) }));
}

/** Throws a `StartError` for an unsupported server. */
export function checkServer({ version, encoding, foreign }: ServerFacts): void {
  if (version < 150_000) {
    throw new StartError(`PostgreSQL ${Math.floor(version / 10_000)} is too old: use PostgreSQL 15 or newer`);
  }
  if (encoding !== "UTF8") {
    throw new StartError(
      `The database is encoded in ${encoding}: make one with create database … encoding 'UTF8' template template0`,
    );
  }
  if (foreign.length > 0) {
    throw new StartError(
      `Behind a pooler Agent Engine needs PostgreSQL's own settings, and the role or the database has others (${foreign.join(", ")}): reset them with alter role … reset or alter database … reset, and have the pooler connect anew`,
    );
  }
}

/** Returns the migrations to apply. Throws a `StartError` when the database has migrations of a later release. */
export function pendingMigrations(migrations: readonly Migration[], rows: readonly { at: number }[]): Migration[] {
  const done = new Set(rows.map(({ at }) => at));
  const known = new Set(migrations.map(({ folderMillis }) => folderMillis));
  if ([...done].some((at) => !known.has(at))) {
    throw new StartError(
      "The database belongs to a newer release of Agent Engine: start that release, or restore a backup from before it",
    );
  }
  return migrations.filter(({ folderMillis }) => !done.has(folderMillis));
}

/** Runs statements on one connection; a text without parameters may contain several. */
export type RunText = (text: string, parameters?: readonly Parameter[]) => Promise<readonly unknown[]>;

/**
 * Applies the pending migrations in one transaction; returns their number. Retries after a deadlock with statements of
 * running replicas.
 */
export function applyMigrations(run: RunText, migrations: readonly Migration[]): Promise<number> {
  return unlessDeadlocked(() =>
    applyTogether(run, migrations).catch(async (error: unknown) => {
      // The server itself rolls back a lost connection.
      await run("rollback").catch(() => {});
      throw error;
    }),
  );
}

async function applyTogether(run: RunText, migrations: readonly Migration[]): Promise<number> {
  await run(`
    begin isolation level read committed;
    set local statement_timeout = 0;
    set local lock_timeout = '${waitForStarter}'`);
  await run(`select pg_advisory_xact_lock(${lockKey})`);
  await run(`
    set local lock_timeout = '${waitForTable}';
    create schema if not exists drizzle;
    create table if not exists drizzle.__drizzle_migrations
      (id serial primary key, hash text not null, created_at bigint)`);
  const pending = pendingMigrations(migrations, await readApplied(run));
  for (const { sql, hash, folderMillis } of pending) {
    for (const statement of sql) await run(statement);
    await run("insert into drizzle.__drizzle_migrations (hash, created_at) values ($1, $2)", [hash, folderMillis]);
  }
  await run("commit");
  return pending.length;
}

function explain(error: unknown): unknown {
  const state = sqlState(error);
  if (!(error instanceof Error) || state === undefined) return error;
  const advice: Record<string, string> = {
    "40P01": ": stop the other servers on it, and start again",
    "55P03": ": end long transactions, and start again",
    "42501": ": connect as the owner of the database",
  };
  const message = `The schema can't be brought up to this release (${error.message})${advice[state] ?? ""}`;
  return new StartError(message, { cause: error });
}

export interface SchemaState {
  /** `server_version_num`, such as 150004. */
  version: number;
  /** The number of this release's migrations that are not applied. */
  pending: number;
}

/** Checks the schema as `migrate` does, but changes nothing. Rejects as `migrate` does. */
export async function inspectSchema(
  target: Target,
  migrations: readonly Migration[],
  { clock, timeoutMs }: { clock: Clock; timeoutMs: number },
): Promise<SchemaState> {
  const connection = openConnection(target, { prepare: false, clock, statementTimeoutMs: timeoutMs });
  const run: RunText = (text, parameters = []) => connection.run(text, parameters, "objects");
  const look = async (): Promise<SchemaState> => {
    const server = await readFacts(run, target, timeoutMs);
    const applied = server.known ? await readApplied(run) : [];
    return { version: server.version, pending: pendingMigrations(migrations, applied).length };
  };
  try {
    return await withinTime(clock, timeoutMs, tooLate(), look);
  } finally {
    connection.destroy();
  }
}
