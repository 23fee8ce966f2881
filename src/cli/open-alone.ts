import { hasEmbedded } from "../adapters/node/data/data-directory.ts";
import { isDirectoryInUse } from "../adapters/node/data/directory-lock.ts";
import { StartError } from "../core/errors.ts";
import { type OpenEngine, openEngine, type Setup } from "../main.ts";
import { notApplied } from "./command-name.ts";

/**
 * Opens the engine for a command that works on a server's data. `otherwise` tells another way to do the same. Rejects
 * with a `StartError` that says what to do when there is no database, when a running server uses it, and when its
 * schema is of another release.
 */
export async function openAlone(setup: Setup, otherwise?: string): Promise<OpenEngine> {
  const { BASE_URL, DATABASE_URL, DATA_DIR } = setup.settings;
  const advice = otherwise === undefined ? "" : `, ${otherwise}`;
  // Checked first: `openEngine` would create an empty database, in which the command finds nothing.
  if (DATABASE_URL === undefined && !hasEmbedded(setup.settings)) {
    throw new StartError(
      `There is no database in ${DATA_DIR}: run this with the DATA_DIR or DATABASE_URL of the server${advice}`,
    );
  }
  try {
    return await openEngine(setup, BASE_URL ?? "http://localhost", isOlder);
  } catch (error) {
    if (!isDirectoryInUse(error)) throw error;
    throw new StartError(
      `A running server holds the embedded database in ${DATA_DIR}: stop it, run this again, and start it${advice}`,
    );
  }
}

/** Migrations can't be undone, so only a server's start and `migrate` apply them. Both are part of an update. */
const isOlder = (pending: number) => new StartError(`The database is not up to this release: ${notApplied(pending)}`);
