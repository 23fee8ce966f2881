import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StartError } from "../../core/errors.ts";

/** Makes the directory, for its owner only, unless it is there. Throws a `StartError` when it can't be used. */
export function prepareDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    // Only writing shows it: permissions are not all that can forbid it.
    const probe = join(directory, `probe-${randomUUID()}`);
    writeFileSync(probe, "", { flag: "wx" });
    rmSync(probe);
  } catch (cause) {
    throw unusableDirectory(directory, cause);
  }
}

/** What is wrong with the directory, or with a file in it, and what to do. */
export function unusableDirectory(path: string, cause: unknown): StartError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
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
  ENOTDIR: "lies under a file",
  ENOSPC: "is on a full disk",
};
