import { systemClock } from "../adapters/node/clock.ts";
import { hasEmbedded } from "../adapters/node/data/data-directory.ts";
import { isDirectoryInUse } from "../adapters/node/data/directory-lock.ts";
import { openUnchanged } from "../adapters/node/unchanged.ts";
import { StartError } from "../core/errors.ts";
import { type OpenEngine, openEngine, type Setup } from "../main.ts";
import { notApplied } from "./not-applied.ts";

interface Opening {
  /** What else may be done where the command can't work. */
  otherwise?: string;
  /** The command only looks, so it may not bring the schema up to this release, from which there is no way back. */
  looks?: boolean;
}

/**
 * Opens the engine for a command that works on a server's data. Rejects with a `StartError` that says what to do when
 * there is no database, when a running server holds it, and when a command that only looks would have to change it.
 */
export async function openAlone(setup: Setup, { otherwise, looks = false }: Opening = {}): Promise<OpenEngine> {
  const { BASE_URL, DATABASE_URL, DATA_DIR } = setup.settings;
  const advice = otherwise === undefined ? "" : `, ${otherwise}`;
  // `openEngine` would make an empty database, in which the command finds nothing.
  if (DATABASE_URL === undefined && !hasEmbedded(setup.settings)) {
    throw new StartError(
      `There is no database in ${DATA_DIR}: run this with the DATA_DIR or DATABASE_URL of the server${advice}`,
    );
  }
  try {
    if (looks) await requireMigrated(setup);
    return await openEngine(setup, BASE_URL ?? "http://localhost");
  } catch (error) {
    if (!isDirectoryInUse(error)) throw error;
    throw new StartError(
      `A running server holds the embedded database in ${DATA_DIR}: stop it, run this again, and start it${advice}`,
    );
  }
}

async function requireMigrated({ settings, log }: Setup): Promise<void> {
  const { pending, close } = await openUnchanged(settings, { clock: systemClock, log });
  await close();
  if (pending > 0) throw new StartError(`The database belongs to an older release: ${notApplied(pending)}`);
}
