import { readFile } from "node:fs/promises";
import { fontFiles } from "./font-files.ts";

/** Reads a document font: next to the bundled program, or in its package for a checkout. */
export async function readFont(name: keyof typeof fontFiles): Promise<Uint8Array<ArrayBuffer>> {
  const { url } = import.meta;
  const file = url.endsWith(".ts") ? import.meta.resolve(fontFiles[name]) : new URL(`./fonts/${name}.ttf`, url);
  return new Uint8Array(await readFile(new URL(file)));
}
