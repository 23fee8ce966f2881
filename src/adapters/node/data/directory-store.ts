import { randomUUID } from "node:crypto";
import type { createReadStream } from "node:fs";
import { mkdir, open, readdir, rename, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { EngineError, StorageRefusal } from "../../../core/errors.ts";
import type { ObjectStore } from "../../../core/ports.ts";
import { errorCode } from "../error-code.ts";

const unfinished = ".part";

/** How many bytes of the disk are reserved for the embedded database, which can't write on a full disk. */
export const databaseShare = 256 * 1024 * 1024;

/**
 * Stores files by key in one directory, which is created for the first file. For a single process: files that an
 * earlier process left unfinished are deleted. Refuses a file that would leave less than `spareBytes` of the disk free.
 */
export function directoryStore(directory: string, { spareBytes = databaseShare } = {}): ObjectStore {
  /** The bytes of files that are being written, which the disk may still report as free. */
  let writing = 0;
  let made: Promise<void> | undefined;
  const make = () => {
    made ??= prepare(directory).catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
  const pathOf = (key: string) => {
    if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(key)) throw new EngineError("internal", "No key of a stored file");
    return join(directory, key);
  };

  return {
    async put(key, bytes) {
      const path = pathOf(key);
      await make().catch(unusable);
      writing += bytes.length;
      try {
        const free = await freeBytes(directory).catch(unusable);
        if (free - writing < spareBytes) throw new StorageRefusal("conflict", scarce);
        await writeWhole(path, bytes).catch(unusable);
      } finally {
        writing -= bytes.length;
      }
    },
    async get(key) {
      const file = await open(pathOf(key)).catch(unlessMissing);
      if (!file) return null;
      try {
        const { size } = await file.stat();
        return { bytes: asWebStream(file.createReadStream()), size };
      } catch (error) {
        await file.close();
        return unusable(error);
      }
    },
    async delete(key) {
      await rm(pathOf(key), { force: true }).catch(unusable);
    },
    link: null,
  };
}

async function prepare(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const left = (await readdir(directory)).filter((name) => name.endsWith(unfinished));
  await Promise.all(left.map((name) => rm(join(directory, name), { force: true })));
}

const scarce = "The disk of this machine has no space left for files: free some, or give the agent a bucket in S3";

/** The free bytes; infinite when the file system does not report its size. */
async function freeBytes(directory: string): Promise<number> {
  const { blocks, bavail, bsize } = await statfs(directory);
  return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize;
}

/** Writes under a temporary name until all bytes are on the disk, so that a crash leaves no partial file. */
async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
  const part = `${path}.${randomUUID()}${unfinished}`;
  try {
    const file = await open(part, "wx", 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** Node's own type of a web stream differs from the standard one in name only. */
function asWebStream(stream: ReturnType<typeof createReadStream>): ReadableStream<Uint8Array<ArrayBuffer>> {
  return Readable.toWeb(stream) as ReadableStream<Uint8Array<ArrayBuffer>>;
}

function unlessMissing(error: unknown): null {
  if (errorCode(error) === "ENOENT") return null;
  return unusable(error);
}

function unusable(cause: unknown): never {
  const code = errorCode(cause);
  const message = `The file storage of this machine failed${code ? ` with ${code}` : ""}`;
  throw new StorageRefusal("provider-failed", message, { cause });
}
