import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { StartError } from "../../../core/errors.ts";
import type { Log } from "../../../core/ports.ts";
import { lockDirectory } from "../directory-lock.ts";
import { type Embedded, keepThread } from "./thread.ts";

/**
 * Opens the embedded database in `directory` (made by the caller), or makes it there. A second process on the same
 * directory gets a `StartError` at once. What was acknowledged survives the process, however it ends; it is not
 * promised to survive a loss of power.
 */
export async function openEmbedded(directory: string, log: Log, template = shippedTemplate()): Promise<Embedded> {
  const unlock = await lockDirectory(directory);
  try {
    const data = join(directory, "pgdata");
    // While it stands there, nobody has used the database yet: what lies in its place is a start that was cut off.
    const unfinished = join(directory, "pgdata.unfinished");
    if (existsSync(unfinished)) rmSync(data, { recursive: true, force: true });
    mkdirSync(data, { recursive: true, mode: 0o700 });
    const files = readdirSync(data);
    if (files.length === 0) writeFileSync(unfinished, "");
    else if (!files.includes("PG_VERSION")) throw damaged(data, "PG_VERSION is missing");
    const thread = await keepThread({ directory: data, template }, log).catch((error: Error) => {
      throw damaged(data, error.message);
    });
    rmSync(unfinished, { force: true });
    const close = async () => {
      await thread.close();
      unlock();
    };
    return { target: thread.target, close };
  } catch (error) {
    unlock();
    throw error;
  }
}

function damaged(data: string, reason: string): StartError {
  return new StartError(
    `The embedded database in ${data} does not open (${reason}): restore it from a backup, or move it away to start with an empty one`,
  );
}

/** Beside the bundled program; a checkout that runs from its sources has none. */
function shippedTemplate(): string | null {
  const file = fileURLToPath(new URL("./template.tar.gz", import.meta.url));
  return existsSync(file) ? file : null;
}
