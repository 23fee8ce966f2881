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

/** Whether an earlier start finished creating the embedded database. */
export function hasEmbedded({ DATA_DIR }: Pick<Settings, "DATA_DIR">): boolean {
  const made = existsSync(join(DATA_DIR, "pgdata", "PG_VERSION"));
  return made && !existsSync(join(DATA_DIR, "pgdata.unfinished"));
}

/** Creates the directory, for its owner only, unless it exists. Throws a `StartError` when it can't be used. */
export function prepareDirectory(directory: string): void {
  try {
    makeDirectory(directory);
    // Tries to write, since the mode is not the only thing that can prevent writing.
    const probe = join(directory, `probe-${randomUUID()}`);
    writeFileSync(probe, "", { flag: "wx" });
    rmSync(probe);
  } catch (cause) {
    throw unusableDirectory(directory, cause);
  }
}

/**
 * Creates the directory with its parents. Not by Node's own recursion, which never ends below `/proc`, where no
 * directory can be made.
 */
function makeDirectory(directory: string): void {
  if (isDirectory(directory)) return;
  if (!existsSync(dirname(directory))) makeDirectory(dirname(directory));
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it.
    if (!isDirectory(directory)) throw error;
  }
}

const isDirectory = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/**
 * Throws a `StartError` when root would open the embedded database of another user, whose server could then not open
 * root's new files.
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
 * Throws a `StartError` that names a file below `data` which this user may not read and write, for example after root
 * used the database. PostgreSQL would report only that the database, which is undamaged, does not open.
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
 * Removes other users' rights to a prepared directory and to the key in it, which may exist when the directory was made
 * by hand or restored from a backup. Warns of each change and of each failed one. Windows has no such modes.
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

/** Whether the mode gives a right to anyone but the owner; false on Windows, which has no such modes. */
export function isOpenToOthers(path: string): boolean {
  return process.platform !== "win32" && existsSync(path) && (statSync(path).mode & 0o077) !== 0;
}

/** Whether the directory belongs to one owner; false for a sticky one such as /tmp, which is for all users. */
function isOurs(path: string): boolean {
  const { uid, mode } = statSync(path);
  return uid === process.getuid?.() && (mode & 0o1000) === 0;
}

/** Changes the mode, and returns whether it has changed: some file systems refuse the change, others ignore it. */
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

/** The error for an unusable directory or a file in it, with advice. */
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
