import { and, eq, inArray, isNull, notInArray, sql } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import { every } from "../../core/time/every.ts";
import type { Database } from "../../db/client.ts";
import { isPast } from "../../db/fragments.ts";
import { files, jobs } from "../../db/schema.ts";
import { abandonedMs, deletionJob, enqueueDeletion } from "./delete.ts";

const everyMs = 10 * 60_000;

/** The most files of one call. */
const batchSize = 1_000;

/** Upkeep, every 10 minutes: enqueues the deletion of incomplete files, and of files whose deletion has no job. */
export function createFileSweep(services: Services): () => Promise<void> {
  const { database, clock } = services;
  return every(clock, everyMs, async (now) => {
    await giveUpAbandoned(database, now);
    const rows = await findUnattended(database);
    for (const [agentId, ofAgent] of Map.groupBy(rows, (row) => row.agentId)) {
      await attend(services, agentId, ofAgent).catch((err: unknown) =>
        services.log.warn({ agentId, err }, "The deletion of files could not be arranged"),
      );
    }
    return true;
  });
}

async function giveUpAbandoned({ db }: Database, now: number): Promise<void> {
  const abandoned = isPast(files.createdAt, now, abandonedMs);
  await db
    .update(files)
    .set({ status: "deleting" })
    .where(and(eq(files.status, "pending"), abandoned));
}

type Unattended = Awaited<ReturnType<typeof findUnattended>>[number];

/** Files to delete whose job neither waits nor failed for good, in random order, so that batches differ. */
function findUnattended({ db }: Database) {
  const attended = db
    .select({ id: sql`(jsonb_array_elements_text(${jobs.payload} -> 'files'))::uuid` })
    .from(jobs)
    .where(eq(jobs.kind, deletionJob.kind));
  return db
    .select({ id: files.id, agentId: files.agentId, organizationId: files.organizationId, store: files.store })
    .from(files)
    .where(and(eq(files.status, "deleting"), notInArray(files.id, attended)))
    .orderBy(sql`random()`)
    .limit(batchSize);
}

async function attend(services: Services, agentId: string | null, rows: readonly Unattended[]): Promise<void> {
  const { database, cipher, log } = services;
  const lost = await database.transaction((tx) => enqueueDeletion(tx, cipher, agentId, rows));
  // As long as the agent exists, it may get its keys again.
  if (agentId !== null || lost.length === 0) return;
  const ids = lost.map(({ id }) => id);
  await database.db.delete(files).where(and(inArray(files.id, ids), isNull(files.agentId)));
  log.warn({ files: ids }, "Files of a deleted agent stay in its S3 bucket: the keys to it are gone");
}
