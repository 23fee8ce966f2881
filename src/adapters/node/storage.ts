import { resolve } from "node:path";
import type { Settings } from "../../core/config.ts";
import type { StartError } from "../../core/errors.ts";
import type { Clock, Log } from "../../core/ports.ts";
import { type Database, openDatabase, type Target } from "../../db/client.ts";
import { inspectSchema, type Migration, migrate } from "../../db/migrate.ts";
import { addVectors } from "../../db/vectors.ts";
import { closeToOthers, fullDisk, prepareDirectory, requireOwner } from "./data/data-directory.ts";
import { isFull, startEmbedded } from "./embedded/database.ts";
import { explainPostgres, postgresTarget } from "./postgres-target.ts";
import { readMigrations } from "./shipped.ts";

/** How long a server's first answer may take, in milliseconds, even if the deadline of statements is longer. */
const answerWithinMs = 15_000;

export interface Storage {
  /** The database; its statements wait until it is open. */
  database: Database;
  /** Resolves when the database is open with this release's schema; rejects with a `StartError`. */
  ready: Promise<void>;
  /** Whether the database has the optional tables of vectors. */
  vectors: boolean;
  close(): Promise<void>;
}

interface Ports {
  clock: Clock;
  log: Log;
  /** The file with which a first start fills the embedded database; by default the one next to the bundle. */
  template?: string;
  /** Makes the error when migrations are missing, which are then not applied. Absent: they are applied. */
  refuseOlder?: ((pending: number) => StartError) | undefined;
}

/**
 * Opens the database of the settings, PostgreSQL or the embedded one, and applies this release's migrations. Rejects
 * with a `StartError` if that fails, and when root would use another user's embedded database.
 */
export async function openStorage(settings: Settings, ports: Ports): Promise<Storage> {
  if (settings.DATABASE_URL === undefined) requireOwner(resolve(settings.DATA_DIR));
  const storage = await startStorage(settings, ports);
  try {
    await storage.ready;
    return storage;
  } catch (error) {
    await storage.close();
    throw error;
  }
}

/** Like `openStorage`, but opens the embedded database in the background: `ready` resolves or rejects later. */
export async function startStorage(settings: Settings, ports: Ports): Promise<Storage> {
  const { DATABASE_URL } = settings;
  return DATABASE_URL === undefined ? openLocal(settings, ports) : openPostgres(settings, DATABASE_URL, ports);
}

/** Applies the migrations; returns their number. */
async function bringUp(
  target: Target,
  migrations: readonly Migration[],
  deadlineMs: number,
  { clock, refuseOlder }: Ports,
): Promise<number> {
  const options = { clock, timeoutMs: Math.min(deadlineMs, answerWithinMs) };
  if (!refuseOlder) return migrate(target, migrations, options);
  const { pending } = await inspectSchema(target, migrations, options);
  if (pending > 0) throw refuseOlder(pending);
  return 0;
}

async function openPostgres(settings: Settings, url: string, ports: Ports): Promise<Storage> {
  const { clock, log } = ports;
  const target = postgresTarget(url, settings);
  const deadlineMs = settings.DATABASE_TIMEOUT_SECONDS * 1000;
  try {
    const applied = await bringUp(target, readMigrations(), deadlineMs, ports);
    if (applied > 0) log.info({ applied }, "The schema was brought up to this release");
  } catch (error) {
    throw explainPostgres(error, url);
  }
  const { DATABASE_POOL: max, DATABASE_PREPARE: prepare } = settings;
  const database = openDatabase(target, { max, prepare, deadlineMs, clock });
  try {
    const vectors = await addVectors(database, log);
    return { database, ready: Promise.resolve(), vectors, close: () => database.close() };
  } catch (error) {
    await database.close();
    throw explainPostgres(error, url);
  }
}

async function openLocal(settings: Settings, ports: Ports): Promise<Storage> {
  const { clock, log, template } = ports;
  const directory = resolve(settings.DATA_DIR);
  prepareDirectory(directory);
  closeToOthers(directory, log);
  const { opened } = await startEmbedded(directory, log, template);
  const deadlineMs = settings.DATABASE_TIMEOUT_SECONDS * 1000;
  // Read here, while PostgreSQL opens the data.
  const migrations = readMigrations();
  const open = async () => {
    const { target } = await opened;
    try {
      await bringUp(target, migrations, deadlineMs, ports);
    } catch (error) {
      throw isFull(error) ? fullDisk(directory) : error;
    }
  };
  const ready = open();
  // `dial` and others that wait get the error; a caller that closes without waiting does not.
  ready.catch(() => {});
  const target: Target = {
    async dial() {
      await ready;
      return (await opened).target.dial();
    },
  };
  // One connection, since the embedded database has one session.
  const database = openDatabase(target, { max: 1, prepare: true, deadlineMs, clock });
  const close = async () => {
    await database.close();
    const embedded = await opened.catch(() => null);
    await embedded?.close();
  };
  // The embedded database lacks the extension for vectors.
  return { database, ready, vectors: false, close };
}
