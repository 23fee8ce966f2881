import { isDirectoryInUse } from "../adapters/node/directory-lock.ts";
import { hasEmbedded } from "../adapters/node/unchanged.ts";
import { StartError } from "../core/errors.ts";
import { type OpenEngine, openEngine, type Setup } from "../main.ts";

/**
 * The engine for a command that works on what a server stored. Rejects with what to do when there is no such database,
 * and when a running server holds it.
 */
export async function openAlone(setup: Setup): Promise<OpenEngine> {
  const { DATABASE_URL, DATA_DIR } = setup.settings;
  // Opening would make an empty one, in which nothing that is looked for can be found.
  if (DATABASE_URL === undefined && !hasEmbedded(setup.settings)) {
    throw new StartError(
      `There is no database in ${DATA_DIR}: run this with the DATA_DIR or DATABASE_URL of the server`,
    );
  }
  try {
    return await openEngine(setup, "http://localhost");
  } catch (error) {
    if (!isDirectoryInUse(error)) throw error;
    throw new StartError(
      `A running server holds the embedded database in ${DATA_DIR}: stop it, run this again, and start it`,
    );
  }
}
