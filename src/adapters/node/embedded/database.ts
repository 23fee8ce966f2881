import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { StartError } from "../../../core/errors.ts";
import type { Log } from "../../../core/ports.ts";
import { failureCode } from "../../../db/pool/failures.ts";
import { fullDisk, requireRights } from "../data/data-directory.ts";
import { lockDirectory } from "../data/directory-lock.ts";
import { type EmbeddedDatabase, superviseDatabase } from "./thread.ts";

/**
 * Opens the embedded database in `directory` (which the caller created), or creates it there. Throws a `StartError` at
 * once when another process uses the directory. Acknowledged writes survive any end of the process, though perhaps not
 * a power loss.
 */
export async function openEmbedded(
  directory: string,
  log: Log,
  template = shippedTemplate(),
): Promise<EmbeddedDatabase> {
  return (await startEmbedded(directory, log, template)).opened;
}

/** Like `openEmbedded`, but resolves once this process has locked the directory and PostgreSQL begins to open the data. */
export async function startEmbedded(
  directory: string,
  log: Log,
  template = shippedTemplate(),
): Promise<{ opened: Promise<EmbeddedDatabase> }> {
  const unlock = await lockDirectory(directory);
  const data = join(directory, "pgdata");
  // Marks a first start. If the mark is still there, the first start was interrupted before the database was used.
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
  const open = async (): Promise<EmbeddedDatabase> => {
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

/** Whether an error reports a full disk, by the system's message or PostgreSQL's code. */
export function isFull(error: unknown): boolean {
  return failureCode(error) === "53100" || (error instanceof Error && /ENOSPC|No space left/.test(error.message));
}

function damaged(data: string, reason: string): StartError {
  return new StartError(
    `The embedded database in ${data} does not open (${reason}): restore it from a backup, or move it away to start with an empty one`,
  );
}

/** The template next to the bundled program; null in a checkout. */
function shippedTemplate(): string | null {
  const file = fileURLToPath(new URL("./template.tar.gz", import.meta.url));
  return existsSync(file) ? file : null;
}
