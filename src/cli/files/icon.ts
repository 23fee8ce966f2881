import { dirname, resolve } from "node:path";
import { dataUrl, dataUrlBytes, imageType } from "../../core/files/image.ts";
import { isInside, readUpTo } from "./read-files.ts";

/** The largest icon (decisions §3). */
const largestIcon = 512 * 1024;

/** A picture beside a file of an agent, as a `data:` address, or why it can't be used. */
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

/** A `data:` address as the server writes it; as it is where it holds no picture, which the schema says. */
export function writeIcon(address: string): string {
  const bytes = dataUrlBytes(address);
  const type = bytes && imageType(bytes);
  return bytes && type ? dataUrl(type, bytes) : address;
}
