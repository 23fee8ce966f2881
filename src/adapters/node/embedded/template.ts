import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

/** The folder for the files; paths are relative and use slashes. */
interface Folder {
  mkdir(path: string): void;
  /** Writes a file. The bytes are invalid after the last file. */
  write(path: string, bytes: Uint8Array): void;
}

const block = 512;
const [sizeAt, typeAt, prefixAt] = [124, 156, 345];
const directoryType = "5";

/** Writes the files of a template, a compressed tar. PGlite's own reader takes four times as long. */
export function unpackTemplate(file: string, { mkdir, write }: Folder): void {
  const tar = decompress(readFileSync(file));
  const text = (start: number, length: number) => {
    const end = tar.indexOf(0, start);
    return tar.toString("utf8", start, end === -1 ? start + length : Math.min(end, start + length));
  };
  let at = 0;
  // The archive ends with empty blocks.
  while (at + block <= tar.length && tar[at] !== 0) {
    const path = join(text(at + prefixAt, 155), text(at, 100)).replace(/^\/+|\/+$/g, "");
    const size = Number.parseInt(text(at + sizeAt, 12), 8) || 0;
    const start = at + block;
    if (text(at + typeAt, 1) === directoryType) mkdir(path);
    else write(path, tar.subarray(start, start + size));
    at = start + Math.ceil(size / block) * block;
  }
  // Frees these 13 MB at once: the database's thread soon idles, without a garbage collection.
  tar.buffer.transfer(0);
}

/**
 * Decompresses a gzip file in one piece: Node's usual pieces of 16 KB take twice as long and twice the memory. The last
 * four bytes are the size of the content (RFC 1952, 2.3.1); with one more byte there is no second piece.
 */
function decompress(file: Buffer) {
  return gunzipSync(file, { chunkSize: file.readUInt32LE(file.length - 4) + 1 });
}

/** A directory on disk whose files only their owner can use, as PostgreSQL requires. */
export function folderAt(directory: string): Folder {
  return {
    mkdir: (path) => void mkdirSync(join(directory, path), { recursive: true, mode: 0o700 }),
    write: (path, bytes) => writeFileSync(join(directory, path), bytes, { mode: 0o600 }),
  };
}
