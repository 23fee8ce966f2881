import { dirname, resolve } from "node:path";
import { dataUrl, dataUrlBytes, imageType } from "../../core/files/image.ts";
import { isInside, readUpTo } from "./read-files.ts";

/** The largest icon (decisions §3). */
const largestIcon = 512 * 1024;

/** Reads a picture next to an agent's file as a `data:` address; returns an explanation when it can't be used. */
export async function readIcon(
  root: string,
  file: string,
  address: string,
): Promise<{ url: string } | { problem: string }> {
  const path = resolve(dirname(file), address);
  if (!(await isInside(root, path))) return { problem: `There is no file ${address} in the directory` };
  const bytes = await readUpTo(path, largestIcon);
  if (bytes === null) return { problem: `${address} is larger than 512 KiB` };
  if (typeof bytes === "string") return { problem: `${address} can't be read (${bytes})` };
  const type = imageType(bytes);
  if (type === null) return { problem: `${address} is no PNG, JPEG or WebP` };
  return { url: dataUrl(type, bytes) };
}

/** A `data:` address in the server's spelling; unchanged without a picture, which the schema reports. */
export function writeIcon(address: string): string {
  const bytes = dataUrlBytes(address);
  const type = bytes && imageType(bytes);
  return bytes && type ? dataUrl(type, bytes) : address;
}
