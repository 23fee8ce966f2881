import { and, eq, inArray } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import type { Cipher } from "../../core/credentials/cipher.ts";
import { EngineError } from "../../core/errors.ts";
import { type S3Bucket, s3Problem, s3Secrets } from "../../core/files/s3.ts";
import type { Files, ObjectStore } from "../../core/ports.ts";
import type { Db } from "../../db/client.ts";
import { type files, secrets } from "../../db/schema.ts";
import { openSecrets } from "../secrets/index.ts";
import { readS3Key, s3Key } from "./rules.ts";

export type FileRow = typeof files.$inferSelect;

/** The keys to a bucket, without its name. */
export type S3Keys = Pick<S3Bucket, "accessKeyId" | "secretAccessKey">;

/** An agent's own bucket; null unless the agent has all four secrets. Throws 409 for an invalid one. */
export async function bucketOf(db: Db, cipher: Cipher, agentId: string): Promise<S3Bucket | null> {
  const rows = await db
    .select({ key: secrets.key, keyId: secrets.keyId, ciphertext: secrets.ciphertext })
    .from(secrets)
    .where(and(eq(secrets.agentId, agentId), inArray(secrets.key, [...s3Secrets])));
  const opened = await openSecrets(cipher, agentId, rows);
  const values = s3Secrets.map((key) => {
    const value = opened.get(key) ?? "";
    const problem = value === "" ? null : s3Problem(key, value);
    if (problem !== null) throw new EngineError("conflict", `The agent's secret ${key} ${problem}`);
    return value;
  });
  const [region, bucket, accessKeyId, secretAccessKey] = values;
  return region && bucket && accessKeyId && secretAccessKey ? { region, bucket, accessKeyId, secretAccessKey } : null;
}

export interface StorageLocation {
  store: FileRow["store"];
  storageKey: string;
}

/**
 * Where an agent's new file is stored: in its own bucket, else in the directory of this machine, which installations on
 * several machines lack. Throws 409 when there is neither.
 */
export async function placeFor(services: Services, agentId: string, fileId: string): Promise<StorageLocation & Opened> {
  const { database, cipher, files } = services;
  const bucket = await bucketOf(database.db, cipher, agentId);
  if (bucket) {
    const place = { store: "s3", storageKey: s3Key(bucket, fileId) };
    return { ...place, ...open(files, place, bucket) };
  }
  const place = { store: "directory", storageKey: fileId };
  if (files.directory) return { ...place, ...open(files, place, null) };
  throw new EngineError(
    "conflict",
    `There is nowhere to store files: set the agent's secrets ${s3Secrets.slice(0, -1).join(", ")} and ${s3Secrets.at(-1)}`,
  );
}

export interface Opened {
  objects: ObjectStore;
  key: string;
}

/** The store of a file, and its key there. Throws 409 when the directory or the keys to the bucket are missing. */
export function open(files: Files, { store, storageKey }: StorageLocation, keys: S3Keys | null): Opened {
  if (store === "directory") {
    if (files.directory) return { objects: files.directory, key: storageKey };
    throw new EngineError("conflict", "The file lies on the machine that stored it, which this installation left");
  }
  if (!keys) {
    throw new EngineError("conflict", `The file lies in S3: set the agent's secrets ${s3Secrets.join(", ")} again`);
  }
  const { key, ...bucket } = readS3Key(storageKey);
  const { accessKeyId, secretAccessKey } = keys;
  return { objects: files.s3({ ...bucket, accessKeyId, secretAccessKey }), key };
}

type Dependencies = Pick<Services, "database" | "cipher" | "files">;
type StoredFile = Pick<FileRow, "agentId"> & StorageLocation;

/** The store of a stored file, and its key there. Throws as `open` does. */
export async function openStored(
  { database, cipher, files }: Dependencies,
  { agentId, ...place }: StoredFile,
): Promise<Opened> {
  const needsKeys = place.store === "s3" && agentId !== null;
  const keys = needsKeys ? await bucketOf(database.db, cipher, agentId) : null;
  return open(files, place, keys);
}

/**
 * Reads a stored file; null when its bytes are missing. Throws 502 when the object has another size than the row. If
 * that shows only at the end, the stream fails.
 */
export async function readFile(
  services: Dependencies,
  { size, ...stored }: StoredFile & Pick<FileRow, "size">,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>> | null> {
  const { objects, key } = await openStored(services, stored);
  const found = await objects.get(key);
  if (found && found.size !== null && found.size !== size) {
    // Not awaited, since a service may never settle the cancel.
    found.bytes.cancel().catch(() => {});
    throw mismatch();
  }
  return found?.bytes.pipeThrough(exactly(size)) ?? null;
}

/** The error for an object that was replaced or truncated in its store. */
const mismatch = () => new EngineError("provider-failed", "The stored file has another size than it had");

/** Fails when the number of bytes differs. */
function exactly(size: number): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let passed = 0;
  return new TransformStream({
    transform(chunk, controller) {
      passed += chunk.length;
      if (passed > size) throw mismatch();
      controller.enqueue(chunk);
    },
    flush() {
      if (passed < size) throw mismatch();
    },
  });
}
