import { sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { every } from "../../../core/time/every.ts";
import { assign } from "../../../db/fragments.ts";
import { jobs, roomEvents } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import { forgetEvents } from "./forget.ts";
import { matchJob } from "./store.ts";

const minuteMs = 60_000;

/**
 * Upkeep of the ledger: gives up events whose job failed for good (once a minute), and deletes old events. Call each
 * every 10 seconds.
 */
export function ledgerUpkeep({ database, clock, log }: Services): (() => Promise<void>)[] {
  return [
    every(clock, minuteMs, async () => {
      const stranded = await strandedStatement.run(database, {});
      if (stranded.length > 0) log.warn({ stranded: stranded.length }, "Events were given up: their jobs failed");
      return true;
    }),
    forgetEvents({ database, clock }),
  ];
}

const given = {
  outcome: "matcher-failed",
  reason: "The matcher broke off each time that it tried: the server's log says why",
};

/** Pending events whose job failed for good. */
const strandedStatement = statement({}, () => {
  const failed = sql`
    select ${jobs.key}::uuid from ${jobs} where ${jobs.status} = 'failed' and ${jobs.kind} = ${matchJob.kind}`;
  return sql<{ id: string }>`
    update ${roomEvents} set ${assign(roomEvents, given)}
    where ${roomEvents.id} = any(array(${failed})) and ${roomEvents.outcome} = 'pending' returning ${roomEvents.id}`;
});
