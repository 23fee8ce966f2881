import { randomUUID } from "node:crypto";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Settings } from "../../../core/config.ts";
import { StartError } from "../../../core/errors.ts";
import type { Log } from "../../../core/ports.ts";
import { errorCode } from "../error-code.ts";

/** Whether a first start has made the embedded database and completed it. */
export function hasEmbedded({ DATA_DIR }: Pick<Settings, "DATA_DIR">): boolean {
  const made = existsSync(join(DATA_DIR, "pgdata", "PG_VERSION"));
  return made && !existsSync(join(DATA_DIR, "pgdata.unfinished"));
}

/** Makes the directory, for its owner only, unless it is there. Throws a `StartError` when it can't be used. */
export function prepareDirectory(directory: string): void {
  try {
    makeDirectory(directory);
    // Only a write shows whether the directory can be used: more than its mode can forbid it.
    const probe = join(directory, `probe-${randomUUID()}`);
    writeFileSync(probe, "", { flag: "wx" });
    rmSync(probe);
  } catch (cause) {
    throw unusableDirectory(directory, cause);
  }
}

/** Node's own recursion never ends below `/proc`, where a missing directory can't be made. */
function makeDirectory(directory: string): void {
  if (isDirectory(directory)) return;
  if (!existsSync(dirname(directory))) makeDirectory(dirname(directory));
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it.
    if (!isDirectory(directory)) throw error;
  }
}

const isDirectory = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/**
 * Throws a `StartError` where root would open another user's embedded database: what it writes there would be root's, and
 * that user's server could not open the database any more.
 */
export function requireOwner(directory: string): void {
  const made = join(directory, "pgdata", "PG_VERSION");
  if (process.geteuid?.() !== 0 || !existsSync(made)) return;
  const { uid } = statSync(made);
  if (uid === 0) return;
  throw new StartError(
    `The database in DATA_DIR ${directory} is that of user ${uid}, whose server can't read what root writes: run this as that user, as with sudo -u '#${uid}'`,
  );
}

/**
 * Throws a `StartError` that names a file below `data` which this user may not read and write, as when root has worked on
 * the database: it is whole, and PostgreSQL says only that it does not open.
 */
export function requireRights(directory: string, data: string): void {
  try {
    for (const entry of readdirSync(data, { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) closeSync(openSync(join(entry.parentPath, entry.name), "r+"));
    }
  } catch (cause) {
    const { path = data } = cause as { path?: string };
    const uid = process.geteuid?.();
    if (uid === undefined || !["EACCES", "EPERM"].includes(errorCode(cause))) return;
    throw new StartError(
      `DATA_DIR can't be used, ${path} may not be written to by this user: run chown -R ${uid} ${directory} as root`,
      { cause },
    );
  }
}

/**
 * Takes the rights on a prepared directory and on the key in it from other users, who may have some if the directory
 * was made by hand or restored from a backup. Warns of each change and of each one that fails. Windows has no such
 * modes.
 */
export function closeToOthers(directory: string, log: Log): void {
  if (process.platform === "win32") return;
  for (const path of [directory, join(directory, "encryption.key")]) {
    if (!isOpenToOthers(path)) continue;
    const mode = modeOf(path);
    if (isOurs(path) && tryToClose(path)) {
      log.warn({}, `Others on this machine could read ${path}: its mode was ${mode} and is now ${modeOf(path)}`);
    } else {
      log.warn(
        {},
        `Others on this machine can read ${path}, whose mode is ${mode}: run chmod go= ${path} as its owner`,
      );
    }
  }
}

/** Whether the mode gives anybody but the owner a right; false on Windows, which has no such modes. */
export function isOpenToOthers(path: string): boolean {
  return process.platform !== "win32" && existsSync(path) && (statSync(path).mode & 0o077) !== 0;
}

/** False for a sticky directory such as /tmp, which is for all users, whatever its owner. */
function isOurs(path: string): boolean {
  const { uid, mode } = statSync(path);
  return uid === process.getuid?.() && (mode & 0o1000) === 0;
}

/** Some file systems refuse the change, others accept and forget it. */
function tryToClose(path: string): boolean {
  try {
    chmodSync(path, statSync(path).mode & 0o700);
  } catch {
    return false;
  }
  return !isOpenToOthers(path);
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o7777).toString(8).padStart(4, "0");
}

export function fullDisk(directory: string): StartError {
  return new StartError(`The disk of DATA_DIR ${directory} is full (ENOSPC): free some space and start again`);
}

/** An error that says what is wrong with the directory, or with a file in it, and what to do. */
export function unusableDirectory(path: string, cause: unknown): StartError {
  const code = errorCode(cause) || String(cause);
  if (code === "ENOSPC") return fullDisk(path);
  const reason = reasons[code] ?? `fails with ${code}`;
  return new StartError(
    `DATA_DIR can't be used, ${path} ${reason}: set DATA_DIR to a directory that can be written to`,
    {
      cause,
    },
  );
}

const reasons: Record<string, string> = {
  EACCES: "may not be written to by this user",
  EPERM: "may not be written to by this user",
  EROFS: "is on a read-only file system",
  EEXIST: "is a file",
  ENOENT: "can't be made there",
  ENOTDIR: "lies under a file",
};
