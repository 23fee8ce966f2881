import { and, eq } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import { EngineError, notFound, StorageRefusal } from "../../core/errors.ts";
import { newId, toHex } from "../../core/ids.ts";
import { sqlState } from "../../db/client.ts";
import { files } from "../../db/schema.ts";
import { takeSpace } from "./bounds.ts";
import { contentType, fileName, longestFile } from "./rules.ts";
import { type FileRow, placeFor } from "./storage.ts";

/** A file to store. It is deleted with its conversation. */
export interface NewFile {
  organizationId: string;
  agentId: string;
  conversationId: string;
  messageId: string | null;
  /** The sender's name for the file; `fileName` checks it. */
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
  /** The type claimed by the sender; `contentType` checks it. */
  mime: string;
}

/** Throws the 413 for a file that is too large. */
export function requireFitting({ length }: Uint8Array): void {
  if (length > longestFile) throw new EngineError("too-large", "A file may have at most 20 MB");
}

/**
 * Stores a file of a conversation. Throws 404 for a deleted conversation, 409 without a storage and (`NoSpaceLeft`)
 * when the directory has no space for it, 413 over 20 MB, 502 when the storage fails.
 */
export async function keepFile(services: Services, { bytes, ...given }: NewFile): Promise<FileRow> {
  requireFitting(bytes);
  const id = newId();
  const { objects, key, ...place } = await placeFor(services, given.agentId, id);
  const [name, mime] = [fileName(given.name), contentType(bytes, given.mime)];
  const sha256 = toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
  const { db } = services.database;
  const createdAt = new Date(services.clock.now());
  const row = { ...given, id, name, mime, sha256, ...place, size: bytes.length, createdAt };
  const isRow = eq(files.id, id);
  const write = async () => {
    await db
      .insert(files)
      .values({ ...row, status: "pending" })
      .catch(unlessGone);
  };
  const remove = async () => {
    const [removed] = await db.delete(files).where(isRow).returning();
    return removed?.status === "pending";
  };
  const takeBack =
    place.store === "directory"
      ? await takeSpace(services, objects, row, { write, remove })
      : await write().then(() => remove);
  try {
    await objects.put(key, bytes, mime);
  } catch (error) {
    // Only after a refusal. Otherwise the upload may still succeed; the sweep deletes the file with its pending row.
    if (error instanceof StorageRefusal) await takeBack();
    throw error;
  }
  const [stored] = await db
    .update(files)
    .set({ status: "stored" })
    .where(and(isRow, eq(files.status, "pending")))
    .returning();
  if (stored) return stored;
  // The conversation was deleted meanwhile: if this fails, a job will delete the file.
  await objects.delete(key);
  await db.delete(files).where(isRow);
  throw notFound("Conversation");
}

/** Throws the 404 for a conversation that was deleted between the check and the insert. */
function unlessGone(error: unknown): never {
  throw sqlState(error) === "23503" ? notFound("Conversation") : error;
}
