import type { Services } from "../../context.ts";
import { writeArray } from "../../db/arrays.ts";
import { deletion, enqueueDeletion } from "./delete.ts";

const everyMs = 10 * 60_000;

/** Nobody takes so long to store a file. */
const abandonedMs = 60 * 60_000;

/** What one call looks at, at most. */
const batchSize = 1_000;

interface Doomed {
  id: string;
  agent_id: string | null;
  store: string;
}

/** Files that are to go, but that no job, waiting or failed, deletes. */
const unattended = `
select id, agent_id, store from files
where status = 'deleting' and id not in (
  select (jsonb_array_elements_text(payload->'files'))::uuid from jobs where kind = '${deletion}'
)
order by random() limit ${batchSize}`;

/**
 * Upkeep, every 10 minutes: has those files deleted that were never stored in full, and those whose deletion nobody
 * attends to.
 */
export function createFileSweep(services: Services): () => Promise<void> {
  const { database, clock } = services;
  let dueAt = 0;
  return async () => {
    const now = clock.now();
    if (now < dueAt) return;
    const abandoned = new Date(now - abandonedMs).toISOString();
    await database.query(
      "update files set status = 'deleting' where status = 'pending' and created_at < $1::timestamptz",
      [abandoned],
    );
    const rows = await database.query<Doomed>(unattended, []);
    for (const [agentId, ofAgent] of Map.groupBy(rows, (row) => row.agent_id)) {
      await attend(services, agentId, ofAgent).catch((err: unknown) =>
        services.log.warn({ agentId, err }, "The deletion of files could not be arranged"),
      );
    }
    dueAt = now + everyMs;
  };
}

async function attend(services: Services, agentId: string | null, rows: readonly Doomed[]): Promise<void> {
  const { database, cipher, log } = services;
  const lost = await database.transaction((tx) => enqueueDeletion(tx, cipher, agentId, rows));
  // As long as the agent lives it may get its keys again.
  if (agentId !== null || lost.length === 0) return;
  const ids = lost.map(({ id }) => id);
  await database.query("delete from files where id = any($1::uuid[]) and agent_id is null", [writeArray(ids)]);
  log.warn({ files: ids }, "Files of a deleted agent stay in its S3 bucket: the keys to it are gone");
}
