import { readFile } from "node:fs/promises";
import { fontFiles } from "./font-files.ts";

/** The fonts of documents: beside the bundled program, or in their packages for a checkout that runs from its sources. */
export async function readFont(name: keyof typeof fontFiles): Promise<Uint8Array<ArrayBuffer>> {
  const { url } = import.meta;
  const file = url.endsWith(".ts") ? import.meta.resolve(fontFiles[name]) : new URL(`./fonts/${name}.ttf`, url);
  return new Uint8Array(await readFile(new URL(file)));
}
