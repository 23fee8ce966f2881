import { contentVersion } from "../../core/files/image.ts";
import type { Assets } from "../../core/ports.ts";

/** A file that is shipped beside the program. */
export interface ShippedFile {
  bytes: Uint8Array<ArrayBuffer>;
  etag: string;
}

/** Reads each file once, at its first request, since files change only with the program. Null for a missing file. */
export function loadOnce(assets: Assets): (name: string) => Promise<ShippedFile | null> {
  const loaded = new Map<string, ShippedFile>();
  return async (name) => {
    const known = loaded.get(name);
    if (known) return known;
    const bytes = await assets.read(name);
    if (!bytes) return null;
    const file = { bytes, etag: `"${await contentVersion(bytes)}"` };
    loaded.set(name, file);
    return file;
  };
}
