import { and, eq, inArray, isNull, ne, notExists, or, sql } from "drizzle-orm";
import { publicAddress, type Services } from "../../../context/ctx.ts";
import { type MessengerName, messengerNames } from "../../../core/channels/messengers.ts";
import { every } from "../../../core/time/every.ts";
import type { Db } from "../../../db/client.ts";
import { channels, jobs } from "../../../db/schema.ts";
import { loadPolicies } from "../../installation/index.ts";
import { unstarted } from "../row.ts";
import { enqueueStart, startJob } from "./start.ts";

/**
 * Restarts channels whose messenger has a former public address. Costs one statement unless there are any. Of several
 * replicas only one enqueues the starts.
 */
export function createMoved(services: Services, wake: () => void): () => Promise<void> {
  const { database } = services;
  const isMoved = (address: string) =>
    and(
      eq(channels.enabled, true),
      inArray(channels.type, messengerNames),
      or(isNull(channels.registeredAddress), ne(channels.registeredAddress, address)),
    );
  return async () => {
    const { id } = channels;
    const found = await database.db
      .select({ id })
      .from(channels)
      .where(isMoved(publicAddress(services)))
      .limit(1);
    if (found.length === 0) return;
    // This process may not know the new address yet.
    await loadPolicies(services);
    const registeredAddress = publicAddress(services);
    await database.transaction(async (tx) => {
      const moved = await tx
        .update(channels)
        .set({ ...unstarted, registeredAddress, status: "starting" })
        .where(isMoved(registeredAddress))
        .returning({ agentId: channels.agentId, type: channels.type });
      for (const { agentId, type } of moved) await enqueueStart(tx, { id: agentId }, type as MessengerName);
    });
    wake();
  };
}

const sixHoursMs = 6 * 60 * 60_000;

/**
 * Restarts channels with webhooks: at the first call, when the process starts, and every six hours (decisions §8). A
 * messenger loses a webhook when somebody removes it there or registers another one, and may accept credentials again
 * that it refused. Call it every 10 seconds.
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

/** The channels with webhooks, except those whose start is waiting, perhaps because their messenger asked for it. */
function findCalled(db: Db) {
  const { agentId, type, enabled, status, transport } = channels;
  const key = sql`${agentId} || ':' || ${type}`;
  const start = db
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.kind, startJob.kind), eq(jobs.key, key), eq(jobs.status, "pending")));
  // After a failed first start a channel has no transport yet.
  const isCalled = or(eq(transport, "webhook"), and(isNull(transport), eq(status, "failing")));
  return db
    .select({ agentId, type })
    .from(channels)
    .where(and(eq(enabled, true), inArray(type, messengerNames), isCalled, notExists(start)));
}
