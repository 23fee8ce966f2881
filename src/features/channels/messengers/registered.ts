import { and, eq, inArray, isNull, notExists, or, sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { type MessengerName, messengerNames } from "../../../core/channels/messengers.ts";
import { every } from "../../../core/time/every.ts";
import type { Db } from "../../../db/client.ts";
import { channels, jobs } from "../../../db/schema.ts";
import { enqueueStart, startJob } from "./start.ts";

const sixHoursMs = 6 * 60 * 60_000;

/**
 * Starts the channels anew that messengers call: at the first call, which is at a start of the process, and every six
 * hours (decisions §8). A messenger forgets a webhook when somebody removes it there or registers another one, and takes
 * credentials again that it refused. Call it every 10 seconds.
 */
export function createRegistered({ database, clock }: Services, wake: () => void): () => Promise<void> {
  return every(clock, sixHoursMs, async () => {
    const called = await findCalled(database.db);
    if (called.length === 0) return true;
    await database.transaction(async (tx) => {
      for (const { agentId, type } of called) await enqueueStart(tx, { id: agentId }, type as MessengerName);
    });
    wake();
    return true;
  });
}

/** The channels that messengers call, but for those whose start waits: its messenger may have asked for that. */
function findCalled(db: Db) {
  const { agentId, type, enabled, status, transport } = channels;
  const key = sql`${agentId} || ':' || ${type}`;
  const start = db
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.kind, startJob.kind), eq(jobs.key, key), eq(jobs.status, "pending")));
  // One whose first start failed has no transport yet.
  const isCalled = or(eq(transport, "webhook"), and(isNull(transport), eq(status, "failing")));
  return db
    .select({ agentId, type })
    .from(channels)
    .where(and(eq(enabled, true), inArray(type, messengerNames), isCalled, notExists(start)));
}
