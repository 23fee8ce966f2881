import { resolve } from "node:path";
import type { Settings } from "../../core/config.ts";
import type { Clock, Log } from "../../core/ports.ts";
import { type Database, openDatabase, type Target } from "../../db/client.ts";
import { inspectSchema, type SchemaState } from "../../db/migrate.ts";
import { requireOwner } from "./data/data-directory.ts";
import { openEmbedded } from "./embedded/database.ts";
import { explainPostgres, postgresTarget } from "./postgres-target.ts";
import { readMigrations } from "./shipped.ts";

export interface UnchangedStorage extends SchemaState {
  database: Database;
  close(): Promise<void>;
}

/** In milliseconds. Short, since a person waits. */
const deadlineMs = 5000;

/** Opens an existing database of the settings without applying migrations. Rejects as `openStorage` does. */
export async function openUnchanged(
  settings: Settings,
  { clock, log }: { clock: Clock; log: Log },
): Promise<UnchangedStorage> {
  const { DATABASE_URL } = settings;
  const { target, end } = await findTarget(settings, log);
  try {
    const schema = await inspectSchema(target, readMigrations(), { clock, timeoutMs: deadlineMs });
    const prepare = DATABASE_URL === undefined || settings.DATABASE_PREPARE;
    const database = openDatabase(target, { max: 1, prepare, deadlineMs, clock });
    const close = async () => {
      await database.close();
      await end();
    };
    return { ...schema, database, close };
  } catch (error) {
    await end();
    throw DATABASE_URL === undefined ? error : explainPostgres(error, DATABASE_URL);
  }
}

async function findTarget(settings: Settings, log: Log): Promise<{ target: Target; end: () => Promise<void> }> {
  const { DATABASE_URL, DATA_DIR } = settings;
  if (DATABASE_URL !== undefined) return { target: postgresTarget(DATABASE_URL, settings), end: async () => {} };
  const directory = resolve(DATA_DIR);
  requireOwner(directory);
  const { target, close } = await openEmbedded(directory, log);
  return { target, end: close };
}
