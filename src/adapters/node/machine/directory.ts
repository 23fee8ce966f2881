import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Check, fail, ok, warn } from "../../../core/check.ts";
import type { Settings } from "../../../core/config.ts";
import { isOpenToOthers } from "../data/data-directory.ts";
import { databaseShare } from "../data/directory-store.ts";

const name = "data directory";

/** With fewer free megabytes the embedded database soon accepts no writes. */
const scarceMegabytes = 64;

const megabyte = 1_000_000;

/** With fewer free bytes there is soon no space for files. */
const nearShare = 4 * databaseShare;

/** Checks whether DATA_DIR can be used, and whether other users can read its files. */
export function checkDirectory({ DATA_DIR, DATABASE_URL }: Settings): Check {
  if (DATABASE_URL !== undefined) return ok(name, "not used: everything is in PostgreSQL");
  const directory = resolve(DATA_DIR);
  if (!existsSync(directory)) return checkParent(directory);
  if (!statSync(directory).isDirectory()) {
    return fail(name, `${directory} is a file: set DATA_DIR to a directory`);
  }
  if (!isUsable(directory)) {
    return fail(name, `${directory} may not be written to by this user: change its owner, or set another DATA_DIR`);
  }
  const free = freeMegabytes(directory);
  if (free < scarceMegabytes) {
    return fail(name, `${directory} has ${free} MB of free space left: free some on its disk`);
  }
  const warnings = [...warnOfSpace(directory, free), ...warnOfReaders(directory)];
  return warnings.length > 0 ? warn(name, warnings.join(". ")) : ok(name, `${directory}, for its owner only`);
}

function warnOfSpace(directory: string, free: number): string[] {
  if (free * megabyte >= nearShare) return [];
  const forFiles = Math.floor(free - databaseShare / megabyte);
  const fate = forFiles < 0 ? "so that no files are taken" : `of which files may take ${forFiles}`;
  return [`${directory} has ${free} MB of free space left, ${fate}: free some on its disk`];
}

function warnOfReaders(directory: string): string[] {
  const open = [directory, join(directory, "encryption.key")].filter(isOpenToOthers);
  if (open.length === 0) return [];
  return [`Others on this machine can read ${open.join(" and ")}: run chmod go= ${open.join(" ")}`];
}

function freeMegabytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return Math.floor((bavail * bsize) / megabyte);
}

/** Checks the parent of a missing directory, which the first start creates. */
function checkParent(directory: string): Check {
  let parent = dirname(directory);
  while (!existsSync(parent)) parent = dirname(parent);
  if (isUsable(parent)) return ok(name, `${directory} is made at the first start`);
  return fail(name, `${directory} can't be made in ${parent}: set DATA_DIR to a directory that can be written to`);
}

function isUsable(directory: string): boolean {
  try {
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
