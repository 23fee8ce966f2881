import { sql } from "drizzle-orm";
import type { Services } from "../../../context.ts";
import { every } from "../../../core/time/every.ts";
import { isPast } from "../../../db/age.ts";
import { eventBacklog } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";

const [hourMs, dayMs] = [3_600_000, 86_400_000];

/** How long entries are kept that are over. */
const keptMs = 30 * dayMs;

/** Rows that one call deletes at most, so that no other upkeep waits for it. */
const batchSize = 1_000;

/** Deletes entries 30 days after they were over, once an hour. Call it every 10 seconds. */
export function backlogUpkeep({ database, clock }: Services): () => Promise<void> {
  // While more are left than one batch, every call deletes a batch.
  return every(clock, hourMs, async (now) => {
    const gone = await deleteStatement.run(database, { now: new Date(now) });
    return gone.length < batchSize;
  });
}

/** Replicas may run it at the same time: each skips the rows that another one holds. */
const deleteStatement = statement(
  { now: "timestamptz" },
  ({ now }) => sql<{ id: string }>`
    delete from ${eventBacklog} where ${eventBacklog.id} = any(array(
      select ${eventBacklog.id} from ${eventBacklog} where ${isPast(eventBacklog.completedAt, now, keptMs)}
      order by ${eventBacklog.completedAt} limit ${batchSize} for update skip locked))
    returning ${eventBacklog.id}`,
);
