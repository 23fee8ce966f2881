import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { StartError } from "../../../core/errors.ts";
import { errorCode } from "../error-code.ts";
import { fullDisk } from "./data-directory.ts";

/** The open handles. Garbage collection of a handle would release its lock. */
const held = new Set<DatabaseSync>();

/**
 * Locks the directory for this process until the returned function is called. The lock is SQLite's own, on an empty file;
 * the system releases it when the process ends, for any reason. Throws a `StartError` if another process has the lock.
 */
export async function lockDirectory(directory: string): Promise<() => void> {
  const file = join(directory, "lock");
  const handle = await openSqlite(file);
  try {
    handle.exec("pragma busy_timeout = 0; pragma locking_mode = exclusive; begin exclusive");
  } catch (cause) {
    handle.close();
    if (codeOf(cause) === full) throw fullDisk(directory);
    const message = isBusy(cause)
      ? `DATA_DIR ${directory} is in use by another agent-engine: stop that one, or set another DATA_DIR`
      : `DATA_DIR ${directory} can't be locked: delete the file ${file} or set another DATA_DIR`;
    throw new StartError(message, { cause });
  }
  held.add(handle);
  return () => {
    held.delete(handle);
    handle.close();
  };
}

/** Whether an error means that another process has locked the directory. */
export function isDirectoryInUse(error: unknown): boolean {
  return error instanceof StartError && isBusy(error.cause);
}

/** Codes of SQLite (its "Result Codes"). */
const [busy, full] = [5, 13];

const isBusy = (cause: unknown) => codeOf(cause) === busy;

const codeOf = (cause: unknown) => (cause instanceof Error && "errcode" in cause ? cause.errcode : null);

async function openSqlite(file: string): Promise<DatabaseSync> {
  const { DatabaseSync } = await withoutWarning(() => import("node:sqlite"));
  try {
    makePrivate(file);
    return new DatabaseSync(file);
  } catch (cause) {
    if (errorCode(cause) === "ENOSPC") throw fullDisk(dirname(file));
    throw new StartError(`DATA_DIR can't be locked: ${file} can't be opened as a file`, { cause });
  }
}

/**
 * Creates the lock file unless it exists. SQLite would let other users read, and so lock it. An existing file must not
 * be opened here: closing it would release this process's locks on it.
 */
function makePrivate(file: string): void {
  try {
    writeFileSync(file, "", { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
}

/** Silences Node 22's warning about its experimental module, which is of no use to an operator. */
async function withoutWarning<T>(load: () => Promise<T>): Promise<T> {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return await load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
