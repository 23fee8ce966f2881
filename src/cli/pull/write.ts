import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { StartError } from "../../core/errors.ts";
import { isInside } from "../files/read-files.ts";

export interface FileToWrite {
  /** The path within the directory, with slashes. */
  name: string;
  content: string | Uint8Array;
}

/** The file name of an agent or skill, different for each slug. */
export function fileName(slug: string, ending: string): string {
  if (!/^[a-z0-9_.-]{1,512}$/.test(slug))
    throw new StartError(`The server names something "${slug}", which can't be a file`);
  const usable = unusable.test(slug) ? `_${slug}` : slug;
  return `${usable.slice(0, longestName)}.${ending}`;
}

/**
 * Names that can't be used: a leading dot hides a file from `apply`, and Windows refuses names of devices with any
 * ending. Such names get an underscore in front. Names that have underscores before such a part already get one more.
 */
const unusable = /^_*(\.|(con|prn|aux|nul|com[1-9]|lpt[1-9])(\.|$))/;

/** In characters, without the ending; file systems allow 255 bytes. */
const longestName = 200;

/** The content of a file; null for a missing file. */
export async function contentOf(root: string, name: string): Promise<Uint8Array | null> {
  try {
    return await readFile(join(root, name));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

export function isEqual(content: Uint8Array, other: string | Uint8Array): boolean {
  return Buffer.compare(content, typeof other === "string" ? Buffer.from(other) : other) === 0;
}

/** Writes a file as a whole or not at all. Throws a `StartError` when its folder leads out of the directory. */
export async function writeWhole(root: string, { name, content }: FileToWrite): Promise<void> {
  const path = join(root, name);
  await mkdir(dirname(path), { recursive: true });
  if (!(await isInside(root, dirname(path)))) throw new StartError(`${dirname(name)} leads out of the directory`);
  const part = `${path}.${randomUUID().slice(0, 8)}.part`;
  try {
    await writeFile(part, content);
    await rename(part, path);
  } finally {
    await rm(part, { force: true });
  }
}
