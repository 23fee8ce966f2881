import type { Files, ObjectStore } from "../src/core/ports.ts";

/** A store in memory. */
export function memoryStore(): ObjectStore & { readonly objects: Map<string, Uint8Array<ArrayBuffer>> } {
  const objects = new Map<string, Uint8Array<ArrayBuffer>>();
  return {
    objects,
    put: async (key, bytes) => void objects.set(key, bytes),
    get: async (key) => {
      const bytes = objects.get(key);
      return bytes ? { bytes: new Blob([bytes]).stream(), size: bytes.length } : null;
    },
    delete: async (key) => void objects.delete(key),
    link: null,
  };
}

/** Stores with a directory in memory; no bucket can be reached. */
export function memoryFiles(): Files {
  const refuse = async () => Promise.reject(new Error("The tests reach no S3"));
  return { directory: memoryStore(), s3: () => ({ put: refuse, get: refuse, delete: refuse, link: refuse }) };
}
