import { EngineError } from "../../../core/errors.ts";

/** A file in the archive's directory. Only its position is reliable; its sizes are checked later. */
export interface ZipEntry {
  path: string;
  deflated: boolean;
  compressedSize: number;
  size: number;
  /** The position of its header, which its bytes follow. */
  offset: number;
}

const maxEntries = 1000;
const endLength = 22;
const entryLength = 46;
const longestPath = 512;
const signatures = { end: 0x06054b50, entry: 0x02014b50, file: 0x04034b50 };
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The 400 that refuses an archive. */
export const refuseArchive = (why: string) => new EngineError("bad-request", `The archive is refused: ${why}`);
export const damaged = () => refuseArchive("it is damaged, or no zip");

/**
 * The files in a zip archive, without folders. Throws the 400 for more than 1000 entries, for paths that leave the
 * folder or occur twice, for links and encryption, and for variants of zip that are needed only above 8 MiB.
 */
export function readDirectory(bytes: Uint8Array): ZipEntry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = findEnd(view);
  const count = view.getUint16(end + 10, true);
  const length = view.getUint32(end + 12, true);
  let at = view.getUint32(end + 16, true);
  if (count === 0xffff || at === 0xffffffff) throw refuseArchive("zip64 is not supported");
  if (count > maxEntries) throw refuseArchive(`it has more than ${maxEntries} entries`);
  const parts = view.getUint16(end + 4, true) !== 0 || view.getUint16(end + 8, true) !== count;
  if (parts || at + length > end) throw damaged();

  const last = at + length;
  const entries: ZipEntry[] = [];
  const seen = new Set<string>();
  for (let index = 0; index < count; index += 1) {
    const { entry, next } = readEntry(bytes, view, at, last);
    if (seen.has(entry.path)) throw refuseArchive(`it has ${quote(entry.path)} twice`);
    seen.add(entry.path);
    if (!entry.path.endsWith("/")) entries.push(entry);
    at = next;
  }
  if (at !== last) throw damaged();
  return entries;
}

/** The packed bytes of a file. Throws the 400 when they are not inside the archive. */
export function storedBytes(bytes: Uint8Array, { offset, compressedSize }: ZipEntry): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (offset + 30 > bytes.length || view.getUint32(offset, true) !== signatures.file) throw damaged();
  const start = offset + 30 + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true);
  if (start + compressedSize > bytes.length) throw damaged();
  return bytes.subarray(start, start + compressedSize);
}

/** The position of the end record. Only a comment may follow this record. */
function findEnd(view: DataView): number {
  const lowest = Math.max(0, view.byteLength - endLength - 0xffff);
  for (let at = view.byteLength - endLength; at >= lowest; at -= 1) {
    if (view.getUint32(at, true) !== signatures.end) continue;
    if (at + endLength + view.getUint16(at + 20, true) === view.byteLength) return at;
  }
  throw damaged();
}

function readEntry(bytes: Uint8Array, view: DataView, at: number, last: number): { entry: ZipEntry; next: number } {
  if (at + entryLength > last || view.getUint32(at, true) !== signatures.entry) throw damaged();
  const [nameLength, extra, comment] = [28, 30, 32].map((field) => view.getUint16(at + field, true));
  const nameEnd = at + entryLength + (nameLength ?? 0);
  const next = nameEnd + (extra ?? 0) + (comment ?? 0);
  if (next > last) throw damaged();
  const path = readPath(bytes.subarray(at + entryLength, nameEnd));
  const flags = view.getUint16(at + 8, true);
  // Bit 0 means encryption, 6 strong encryption, 13 an encrypted directory.
  if ((flags & 0b10_0000_0100_0001) !== 0) throw refuseArchive(`${quote(path)} is encrypted`);
  const method = view.getUint16(at + 10, true);
  if (method !== 0 && method !== 8) throw refuseArchive(`${quote(path)} is packed by another method than deflate`);
  requirePlain(path, view.getUint32(at + 38, true) >>> 28);
  const [compressedSize, size] = [view.getUint32(at + 20, true), view.getUint32(at + 24, true)];
  return { entry: { path, deflated: method === 8, compressedSize, size, offset: view.getUint32(at + 42, true) }, next };
}

/** Throws for links and devices. `kind` is the file type in Unix modes; allowed are none, a folder and a plain file. */
function requirePlain(path: string, kind: number): void {
  if (kind === 0xa) throw refuseArchive(`${quote(path)} is a symbolic link`);
  if (kind !== 0 && kind !== 4 && kind !== 8) throw refuseArchive(`${quote(path)} is no plain file`);
}

function readPath(bytes: Uint8Array): string {
  // The length is checked first, since normalizing many accents takes quadratic time.
  if (bytes.length > 4 * longestPath)
    throw refuseArchive(`the name of a file in it is longer than ${longestPath} characters`);
  let path: string;
  try {
    path = utf8.decode(bytes).normalize("NFC");
  } catch {
    throw refuseArchive("the name of a file in it is not UTF-8");
  }
  const segments = path.replace(/\/$/, "").split("/");
  const odd = segments.some((segment) => segment === "" || segment === "." || segment === "..");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  if (odd || /^[A-Za-z]:|[\\\u0000-\u001f\u007f]/.test(path)) {
    throw refuseArchive(`${quote(path)} is not a path inside its folder`);
  }
  if (path.length > longestPath) throw refuseArchive(`${quote(path)} is longer than ${longestPath} characters`);
  return path;
}

const quote = (path: string) => JSON.stringify(path.length > 120 ? `${path.slice(0, 120).toWellFormed()}…` : path);
