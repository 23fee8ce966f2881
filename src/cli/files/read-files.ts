import type { Dirent, Stats } from "node:fs";
import { open, readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, extname, join, relative, resolve, sep } from "node:path";
import { errorCode } from "../../adapters/node/error-code.ts";
import { UsageError } from "../arguments.ts";
import type { Problem } from "./problem.ts";

/** The largest body of an import (decisions §3). */
const largestFile = 8 * 1024 * 1024;

/** How deeply folders may be nested. */
const deepest = 16;

/** The folders of a directory in which files are. If it has none of them, the directory itself is read. */
const folders = ["agents", "skills"] as const;

export interface SourceFile {
  /** The file's absolute path. */
  path: string;
  /** The path for messages, with slashes. */
  name: string;
  text: string;
}

export interface SourceFiles {
  /** The real path of the directory. Files outside of it are refused. */
  root: string;
  /** Whether a directory was given instead of a single file. */
  wholeDirectory: boolean;
  files: SourceFile[];
  problems: Problem[];
}

/** Reads the YAML and JSON files of a directory, or one such file. Throws a `UsageError` when there is none. */
export async function readFiles(target: string): Promise<SourceFiles> {
  const found = await statOf(target);
  if (found.isFile()) return readOne(target);
  if (!found.isDirectory()) throw new UsageError(`${target} is neither a directory nor a file`);
  const root = await realpath(target);
  const problems: Problem[] = [];
  const entries = await readdir(root, { withFileTypes: true });
  const holding = entries.filter(({ name }) => folders.some((folder) => folder === name));
  const starts = holding.length > 0 ? holding.map(({ name }) => join(root, name)) : [root];
  const paths: string[] = [];
  for (const start of starts) paths.push(...(await listFiles(start, { root, problems, depth: 0 })));
  const files: SourceFile[] = [];
  for (const path of paths.sort()) {
    const text = await readText(path, shown(root, path), problems);
    if (text !== null) files.push({ path, name: shown(root, path), text });
  }
  return { root, wholeDirectory: true, files, problems };
}

async function statOf(target: string): Promise<Stats> {
  try {
    return await stat(target);
  } catch {
    throw new UsageError(`There is no directory or file ${target}`);
  }
}

async function readOne(target: string): Promise<SourceFiles> {
  if (!isSource(target)) throw new UsageError(`${target} is neither YAML nor JSON: .yaml, .yml or .json`);
  const path = resolve(target);
  const name = basename(path);
  const problems: Problem[] = [];
  const text = await readText(path, name, problems);
  const files = text === null ? [] : [{ path, name, text }];
  return { root: await realpath(dirname(path)), wholeDirectory: false, files, problems };
}

interface Listing {
  root: string;
  problems: Problem[];
  depth: number;
}

/** The paths of the source files in a folder and its subfolders, without hidden and other files. */
async function listFiles(folder: string, { root, problems, depth }: Listing): Promise<string[]> {
  if (depth > deepest) {
    problems.push({ place: shown(root, folder), message: `Folders nest more than ${deepest} levels deep` });
    return [];
  }
  if (!(await isInside(root, folder))) {
    problems.push({ place: shown(root, folder), message: "This leads out of the directory" });
    return [];
  }
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    problems.push({ place: shown(root, folder), message: `This folder can't be read (${errorCode(error)})` });
    return [];
  });
  const paths: string[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.name.startsWith(".")) continue;
    if (entry.isDirectory()) paths.push(...(await listFiles(path, { root, problems, depth: depth + 1 })));
    else if (isSource(entry.name) && (await isOwn(root, path, entry, problems))) paths.push(path);
  }
  return paths;
}

/** Whether an entry is a file inside the directory, perhaps through a link. */
async function isOwn(root: string, path: string, entry: Dirent, problems: Problem[]): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isFile();
  if (!(await isInside(root, path))) {
    problems.push({ place: shown(root, path), message: "This link leads nowhere, or out of the directory" });
    return false;
  }
  return (await stat(path)).isFile();
}

/** Whether a path, with all links followed, is in the directory. */
export async function isInside(root: string, path: string): Promise<boolean> {
  try {
    const real = await realpath(path);
    return real === root || real.startsWith(root.endsWith(sep) ? root : root + sep);
  } catch {
    return false;
  }
}

const isSource = (name: string) => [".yaml", ".yml", ".json"].includes(extname(name).toLowerCase());

const shown = (root: string, path: string) => relative(root, path).split(sep).join("/") || ".";

async function readText(path: string, name: string, problems: Problem[]): Promise<string | null> {
  const refuse = (message: string) => {
    problems.push({ place: name, message });
    return null;
  };
  const bytes = await readUpTo(path, largestFile);
  if (bytes === null) return refuse("The file is larger than 8 MiB");
  if (typeof bytes === "string") return refuse(`The file can't be read (${bytes})`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return refuse("The file is not UTF-8");
  }
}

/** The bytes of a file; null for more than `limit` bytes, which are not read; the code of an error. */
export async function readUpTo(path: string, limit: number): Promise<Uint8Array<ArrayBuffer> | null | string> {
  try {
    await using file = await open(path);
    const { size } = await file.stat();
    if (size > limit) return null;
    // With one byte more, a file that has grown meanwhile is noticed.
    const buffer = new Uint8Array(size + 1);
    let length = 0;
    while (length < buffer.length) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return length > size ? null : buffer.slice(0, length);
  } catch (error) {
    return errorCode(error) || "unknown reason";
  }
}
