import { z } from "@hono/zod-openapi";
import { and, eq, inArray, type SQL } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import type { Cipher } from "../../core/credentials/cipher.ts";
import { EngineError } from "../../core/errors.ts";
import { fromBase64, newId, toBase64 } from "../../core/ids.ts";
import type { Db } from "../../db/client.ts";
import { agents, conversations, files } from "../../db/schema.ts";
import type { JobKinds } from "../../jobs/attempt.ts";
import { defineJob } from "../../jobs/define.ts";
import { enqueue } from "../../jobs/enqueue.ts";
import { bucketOf, type FileRow, open, type S3Keys } from "./storage.ts";

/** Deletes the bytes of files, and then their rows. */
export const deletionJob = defineJob(
  "deleteFiles",
  z.object({
    batch: z.uuid(),
    files: z.array(z.uuid()),
    keys: z.object({ keyId: z.string(), ciphertext: z.string() }).optional(),
  }),
  ({ batch }) => batch,
);

/** The most files of one job: an agent with thousands must not block the queue for other jobs. */
const batchSize = 100;

/** The attempts of a job. With their pauses they take about two days, since a bucket may be unreachable for a while. */
const maxAttempts = 300;

/** After this many failures in a row an attempt skips the rest of its files. */
const mostFailures = 3;

/** In milliseconds: a file pending for longer than this was given up. Until then its bytes may still arrive. */
export const abandonedMs = 60 * 60_000;

/** The agent or conversation being deleted. */
type Owner = { agentId: string } | { conversationId: string };

/**
 * Enqueues the deletion of the files of a conversation or a whole agent. Call it in the transaction that deletes this
 * owner, before the deletion: each job contains the keys to the agent's bucket, sealed again. Returns the number of files.
 */
export async function deleteFilesOf(
  tx: Db,
  { cipher, clock }: Pick<Services, "cipher" | "clock">,
  owner: Owner,
): Promise<number> {
  const agentId = await lockOwner(tx, owner);
  if (agentId === null) return 0;
  const own = "agentId" in owner ? eq(files.agentId, owner.agentId) : eq(files.conversationId, owner.conversationId);
  // Rows without an owner are not written again when the owner is deleted, which would take as long as this.
  const ownerless = "agentId" in owner ? { agentId: null, conversationId: null } : { conversationId: null };
  const mark = (status: string) =>
    tx
      .update(files)
      .set({ status: "deleting", ...ownerless })
      .where(and(own, eq(files.status, status)))
      .returning({ id: files.id, organizationId: files.organizationId, store: files.store });
  // First marks pending files, since one may become stored meanwhile.
  const coming = await mark("pending");
  const stored = await mark("stored");
  await enqueueDeletion(tx, cipher, agentId, stored);
  // Later, since an immediate deletion may finish before their bytes arrive.
  await enqueueDeletion(tx, cipher, agentId, coming, new Date(clock.now() + abandonedMs));
  return coming.length + stored.length;
}

/** Enqueues the deletion of an agent's files that fulfil a condition. Returns their number. */
export async function deleteFilesWhere(tx: Db, cipher: Cipher, agentId: string, condition: SQL): Promise<number> {
  const rows = await tx
    .update(files)
    .set({ status: "deleting" })
    .where(condition)
    .returning({ id: files.id, organizationId: files.organizationId, store: files.store });
  await enqueueDeletion(tx, cipher, agentId, rows);
  return rows.length;
}

/**
 * Locks the owner and returns its agent; null for a deleted owner. No file can be added, because its foreign key waits
 * for this lock.
 */
async function lockOwner(tx: Db, owner: Owner): Promise<string | null> {
  const [row] =
    "agentId" in owner
      ? await tx.select({ agentId: agents.id }).from(agents).where(eq(agents.id, owner.agentId)).for("update")
      : await tx
          .select({ agentId: conversations.agentId })
          .from(conversations)
          .where(eq(conversations.id, owner.conversationId))
          .for("update");
  return row?.agentId ?? null;
}

export type FileToDelete = Pick<FileRow, "id" | "organizationId" | "store">;

/**
 * Enqueues the deletion. Returns the files that no job can delete, since the agent's keys to their bucket are missing.
 */
export async function enqueueDeletion(
  tx: Db,
  cipher: Cipher,
  agentId: string | null,
  rows: readonly FileToDelete[],
  runAt?: Date,
): Promise<FileToDelete[]> {
  const inBucket = rows.some(({ store }) => store === "s3");
  const keys = inBucket && agentId !== null ? await keysOf(tx, cipher, agentId) : null;
  const isLost = ({ store }: FileToDelete) => store === "s3" && !keys;
  for (const { organizationId, ids } of batchesOf(rows.filter((row) => !isLost(row)))) {
    const batch = newId();
    const payload = { batch, files: ids, ...(await sealKeys(cipher, batch, keys)) };
    await enqueue(tx, deletionJob.of(payload, runAt), { organizationId, maxAttempts });
  }
  return rows.filter(isLost);
}

/** The keys to an agent's bucket. Null also for invalid keys of older releases, which must not block the deletion. */
async function keysOf(tx: Db, cipher: Cipher, agentId: string): Promise<S3Keys | null> {
  return bucketOf(tx, cipher, agentId).catch((error: unknown) => {
    if (error instanceof EngineError && error.code === "conflict") return null;
    throw error;
  });
}

/** Batches of files. Files of deleted agents may belong to several organizations, those of a batch to one. */
function* batchesOf(rows: readonly FileToDelete[]) {
  for (const [organizationId, ofOne] of Map.groupBy(rows, (row) => row.organizationId)) {
    for (let start = 0; start < ofOne.length; start += batchSize) {
      yield { organizationId, ids: ofOne.slice(start, start + batchSize).map(({ id }) => id) };
    }
  }
}

const sealedAs = (batch: string) => `files:${batch}`;

async function sealKeys(cipher: Cipher, batch: string, keys: S3Keys | null) {
  if (!keys) return {};
  const { accessKeyId, secretAccessKey } = keys;
  const { keyId, ciphertext } = await cipher.seal(JSON.stringify({ accessKeyId, secretAccessKey }), sealedAs(batch));
  return { keys: { keyId, ciphertext: toBase64(ciphertext) } };
}

const Keys = z.object({ accessKeyId: z.string(), secretAccessKey: z.string() });

type Dependencies = Pick<Services, "database" | "cipher" | "files">;

/**
 * The jobs that delete files. A job deletes as many of its batch as it can, and fails when some are left; the next
 * attempt finds no rows of deleted files.
 */
export function fileJobs({ database, cipher, files: ports }: Dependencies): JobKinds {
  return deletionJob.doneBy(async ({ payload: { batch, files: ids, keys: sealed } }, signal) => {
    const { db } = database;
    const keys = sealed ? await openKeys(cipher, batch, sealed) : null;
    const rows = await db
      .select({ id: files.id, store: files.store, storageKey: files.storageKey })
      .from(files)
      .where(and(inArray(files.id, ids), eq(files.status, "deleting")));
    let failed: unknown = null;
    let inARow = 0;
    for (const { id, ...place } of rows) {
      signal.throwIfAborted();
      try {
        const { objects, key } = open(ports, place, keys);
        await objects.delete(key);
        await db.delete(files).where(eq(files.id, id));
        inARow = 0;
      } catch (error) {
        failed = error;
        inARow += 1;
        if (inARow === mostFailures) break;
      }
    }
    if (failed !== null) throw failed;
  });
}

async function openKeys(
  cipher: Cipher,
  batch: string,
  { keyId, ciphertext }: { keyId: string; ciphertext: string },
): Promise<S3Keys> {
  const bytes = fromBase64(ciphertext) ?? new Uint8Array();
  return Keys.parse(JSON.parse(await cipher.open({ keyId, ciphertext: bytes }, sealedAs(batch))));
}
