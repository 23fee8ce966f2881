import { sql } from "drizzle-orm";
import type { Services } from "../../../context.ts";
import { every } from "../../../core/time/every.ts";
import { isPast } from "../../../db/age.ts";
import { assign } from "../../../db/fragments.ts";
import { jobs, roomEvents } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import { matchKind } from "./store.ts";

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];

/** How long events are kept. */
const keptMs = 30 * dayMs;

/** Rows that one call deletes at most, so that no other upkeep waits for it. */
const batchSize = 1_000;

/**
 * Upkeep of the ledger: gives up events whose job failed for good, once a minute, and deletes events after 30 days, once
 * an hour. Call each every 10 seconds.
 */
export function ledgerUpkeep({ database, clock, log }: Services): (() => Promise<void>)[] {
  return [
    every(clock, minuteMs, async () => {
      const stranded = await strandedStatement.run(database, {});
      if (stranded.length > 0) log.warn({ stranded: stranded.length }, "Events were given up: their jobs failed");
      return true;
    }),
    // While more are left than one batch, every call deletes a batch.
    every(clock, hourMs, async (now) => {
      const gone = await deleteStatement.run(database, { now: new Date(now) });
      return gone.length < batchSize;
    }),
  ];
}

const given = {
  outcome: "matcher-failed",
  reason: "The matcher broke off each time that it tried: the server's log says why",
};

/** Each pending event has a job, unless that failed for good. */
const strandedStatement = statement({}, () => {
  const failed = sql`
    select ${jobs.key}::uuid from ${jobs} where ${jobs.status} = 'failed' and ${jobs.kind} = ${matchKind}`;
  return sql<{ id: string }>`
    update ${roomEvents} set ${assign(roomEvents, given)}
    where ${roomEvents.id} = any(array(${failed})) and ${roomEvents.outcome} = 'pending' returning ${roomEvents.id}`;
});

/** Replicas may run it at the same time: each skips the rows that another one holds. */
const deleteStatement = statement(
  { now: "timestamptz" },
  ({ now }) => sql<{ id: string }>`
    delete from ${roomEvents} where ${roomEvents.id} = any(array(
      select ${roomEvents.id} from ${roomEvents} where ${isPast(roomEvents.receivedAt, now, keptMs)}
      order by ${roomEvents.receivedAt} limit ${batchSize} for update skip locked))
    returning ${roomEvents.id}`,
);
