import { resolve } from "node:path";
import type { Settings } from "../../core/config.ts";
import type { Clock, Log } from "../../core/ports.ts";
import { type Database, openDatabase } from "../../db/client.ts";
import { migrate } from "../../db/migrate.ts";
import { addVectors } from "../../db/vectors.ts";
import { closeToOthers, fullDisk, prepareDirectory } from "./data-directory.ts";
import { isFull, openEmbedded } from "./embedded/database.ts";
import { readMigrations } from "./migrations.ts";
import { explainPostgres, postgresTarget } from "./postgres-target.ts";

/** The longest wait for the first answer of a server, even if the deadline of a statement is longer. */
const answerWithinMs = 15_000;

export interface Storage {
  database: Database;
  /** Whether it has the optional part of the schema, vectors. */
  vectors: boolean;
  close(): Promise<void>;
}

interface Ports {
  clock: Clock;
  log: Log;
  /** The file with which a first start fills the embedded database; the one beside the bundle unless given. */
  template?: string;
}

/**
 * Opens the database of the settings, PostgreSQL or the embedded one, and brings its schema up to this release.
 * Rejects with a `StartError` if that can't be done.
 */
export function openStorage(settings: Settings, ports: Ports): Promise<Storage> {
  const { DATABASE_URL } = settings;
  return DATABASE_URL === undefined ? openLocal(settings, ports) : openPostgres(settings, DATABASE_URL, ports);
}

async function openPostgres(settings: Settings, url: string, { clock, log }: Ports): Promise<Storage> {
  const target = postgresTarget(url);
  const deadlineMs = settings.DATABASE_TIMEOUT_SECONDS * 1000;
  try {
    const applied = await migrate(target, readMigrations(), { clock, timeoutMs: Math.min(deadlineMs, answerWithinMs) });
    if (applied > 0) log.info({ applied }, "The schema was brought up to this release");
  } catch (error) {
    throw explainPostgres(error, url);
  }
  const { DATABASE_POOL: max, DATABASE_PREPARE: prepare } = settings;
  const database = openDatabase(target, { max, prepare, deadlineMs, clock });
  try {
    return { database, vectors: await addVectors(database, log), close: () => database.close() };
  } catch (error) {
    await database.close();
    throw explainPostgres(error, url);
  }
}

async function openLocal(settings: Settings, { clock, log, template }: Ports): Promise<Storage> {
  const directory = resolve(settings.DATA_DIR);
  prepareDirectory(directory);
  closeToOthers(directory, log);
  const embedded = await openEmbedded(directory, log, template);
  try {
    const deadlineMs = settings.DATABASE_TIMEOUT_SECONDS * 1000;
    await migrate(embedded.target, readMigrations(), { clock, timeoutMs: Math.min(deadlineMs, answerWithinMs) });
    // One connection: the embedded database has one session.
    const database = openDatabase(embedded.target, { max: 1, prepare: true, deadlineMs, clock });
    const close = async () => {
      await database.close();
      await embedded.close();
    };
    // The embedded database comes without the extension for vectors.
    return { database, vectors: false, close };
  } catch (error) {
    await embedded.close();
    throw isFull(error) ? fullDisk(directory) : error;
  }
}
