import { eq } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { roomEvents } from "../../../db/schema.ts";
import { type JobHandler, type JobKinds, mostModelJobs } from "../../../jobs/attempt.ts";
import { Postponed } from "../../../jobs/postponed.ts";
import { type AttemptResult, fateOf, repeatLater } from "../../turns/index.ts";
import { converseJob } from "../ledger/store.ts";
import { type ConversationEvent, readConversation } from "./event.ts";
import { type ConverseDependencies, eventAttempt } from "./turn.ts";

/** In milliseconds. A turn may wait for a slot, and policies allow a turn an hour. */
const longestMs = 3 * 60 * 60_000;

/** How long a job waits for an earlier attempt's turn in another process, in milliseconds. */
const runningMs = 5_000;

/** The jobs that run the turns of events with a matching `conversation` definition. */
export function converseJobs(needs: ConverseDependencies): JobKinds {
  return converseJob.doneBy(converse(needs), { limit: mostModelJobs, longestMs });
}

function converse(needs: ConverseDependencies): JobHandler<{ eventId: string }> {
  const { services, turns } = needs;
  return async ({ payload: { eventId }, attempt: begun }, signal) => {
    const event = await readConversation(services.database.db, eventId);
    if (!event) return;
    const fate = await fateOf(services.database, event.ref);
    if (fate.kind === "running") throw new Postponed("Its turn still runs", services.clock.now() + runningMs);
    if (fate.kind === "failed") return storeReason(services, event, `The turn failed: ${fate.reason}`);
    if (fate.kind !== "open") return;
    // If a process died in an attempt, only the job counted that attempt.
    const attempted = await turns.attempt(eventAttempt(needs, { event, tried: event.attempts + begun, signal }));
    // Another process retries the turn.
    if (attempted.end.kind !== "give-up") signal.throwIfAborted();
    await storeEnd(services, event, attempted);
    repeatLater(services.clock, attempted);
  };
}

/** Stores how an attempt at an event's turn ended, unless the event's conversation shows it. */
async function storeEnd(
  services: Services,
  event: ConversationEvent,
  { end, turn, tried }: AttemptResult,
): Promise<void> {
  if (end.kind === "retry") {
    const attempts = event.attempts + 1;
    await services.database.db.update(roomEvents).set({ attempts }).where(eq(roomEvents.id, event.id));
    const about = { agent: event.agent.slug, eventId: event.id, attempt: tried, reason: end.reason };
    services.log.warn(about, "The turn of an event will be tried again");
  }
  if (end.kind !== "give-up") return;
  const failed = turn?.outcome.status === "failed";
  await storeReason(services, event, failed ? `The turn failed: ${end.reason}` : end.reason);
}

/** Stores in the ledger why the event had no effect. */
async function storeReason(
  { database, log }: Services,
  { id, agent }: ConversationEvent,
  reason: string,
): Promise<void> {
  await database.db.update(roomEvents).set({ reason }).where(eq(roomEvents.id, id));
  log.warn({ agent: agent.slug, eventId: id, reason }, "The turn of an event was given up");
}
