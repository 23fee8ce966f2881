import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { StartError } from "../../../core/errors.ts";
import type { Log } from "../../../core/ports.ts";
import { failureCode } from "../../../db/failures.ts";
import { fullDisk, requireRights } from "../data/data-directory.ts";
import { lockDirectory } from "../data/directory-lock.ts";
import { type Embedded, superviseDatabase } from "./thread.ts";

/**
 * Opens the embedded database in `directory` (made by the caller), or makes it there. A second process on the same
 * directory gets a `StartError` at once. Acknowledged writes survive any end of the process; a loss of power may take
 * them.
 */
export async function openEmbedded(directory: string, log: Log, template = shippedTemplate()): Promise<Embedded> {
  return (await startEmbedded(directory, log, template)).opened;
}

/** `openEmbedded`, but it resolves when this process has the directory and PostgreSQL begins to open the data. */
export async function startEmbedded(
  directory: string,
  log: Log,
  template = shippedTemplate(),
): Promise<{ opened: Promise<Embedded> }> {
  const unlock = await lockDirectory(directory);
  const data = join(directory, "pgdata");
  // The mark of a first start. If the mark is still there, that start was cut off and nobody used the database.
  const unfinished = join(directory, "pgdata.unfinished");
  try {
    if (existsSync(unfinished)) rmSync(data, { recursive: true, force: true });
    mkdirSync(data, { recursive: true, mode: 0o700 });
    const files = readdirSync(data);
    if (files.length === 0) writeFileSync(unfinished, "");
    else if (!files.includes("PG_VERSION")) throw damaged(data, "PG_VERSION is missing");
  } catch (error) {
    unlock();
    if (isFull(error)) throw fullDisk(directory);
    requireRights(directory, data);
    throw error;
  }
  const open = async (): Promise<Embedded> => {
    try {
      const database = await superviseDatabase({ directory: data, template }, log);
      rmSync(unfinished, { force: true });
      const close = async () => {
        await database.close();
        unlock();
      };
      return { target: database.target, close };
    } catch (error) {
      unlock();
      if (isFull(error)) throw fullDisk(directory);
      requireRights(directory, data);
      throw damaged(data, error instanceof Error ? error.message : String(error));
    }
  };
  return { opened: open() };
}

/** Whether an error says that a disk is full: in the words of the system, or in the code of PostgreSQL. */
export function isFull(error: unknown): boolean {
  return failureCode(error) === "53100" || (error instanceof Error && /ENOSPC|No space left/.test(error.message));
}

function damaged(data: string, reason: string): StartError {
  return new StartError(
    `The embedded database in ${data} does not open (${reason}): restore it from a backup, or move it away to start with an empty one`,
  );
}

/** The template beside the bundled program; a checkout that runs from its sources has none. */
function shippedTemplate(): string | null {
  const file = fileURLToPath(new URL("./template.tar.gz", import.meta.url));
  return existsSync(file) ? file : null;
}
