import { eq } from "drizzle-orm";
import type { Services } from "../../../context.ts";
import { EngineError } from "../../../core/errors.ts";
import { roomEvents } from "../../../db/schema.ts";
import { type JobHandler, type JobKinds, mostModelJobs } from "../../../jobs/attempt.ts";
import { backoffMs } from "../../../jobs/backoff.ts";
import { Postponed } from "../../../jobs/postponed.ts";
import { fateOf, setbackOf } from "../../turns/index.ts";
import { converseJob } from "../ledger/work.ts";
import { mostTries } from "../tries.ts";
import { type ConversationEvent, readConversation } from "./event.ts";
import { afterSetback, type Conclusion, conclusionOf } from "./rules.ts";
import { type ConverseNeeds, takeConversation } from "./turn.ts";

/** A turn may wait for a place, and the policies let it take an hour. */
const longestMs = 3 * 60 * 60_000;

/** How long a job waits for the turn of an attempt that it knows nothing of, in milliseconds. */
const runningMs = 5_000;

/** The jobs that take the turns of events which matched a `conversation` definition. */
export function converseJobs(needs: ConverseNeeds): JobKinds {
  return converseJob.doneBy(converse(needs), { limit: mostModelJobs, longestMs });
}

function converse(needs: ConverseNeeds): JobHandler<{ eventId: string }> {
  const { services } = needs;
  return async ({ payload: { eventId }, attempt: begun }, signal) => {
    const event = await readConversation(services.database.db, eventId);
    if (!event) return;
    // An attempt that ended with its process was noted by the job only.
    const tried = event.attempts + begun;
    const { contextPrompt } = event;
    try {
      const fate = await fateOf(services.database, event.ref);
      if (fate.kind === "running") throw new Postponed("Its turn still runs", services.clock.now() + runningMs);
      if (fate.kind === "failed") return await end(services, event, `The turn failed: ${fate.reason}`);
      if (fate.kind !== "open") return;
      const lost = whyNone(event, tried);
      if (lost !== null || contextPrompt === null) return await end(services, event, lost ?? "");
      const ended = await takeConversation(needs, { event, contextPrompt, tried, signal });
      const conclusion = conclusionOf(ended, tried);
      // Another process takes the turn again, unless that would call its tools once more.
      if (conclusion.kind !== "end") signal.throwIfAborted();
      await settle(services, event, conclusion);
    } catch (error) {
      if (error instanceof Postponed || signal.aborted) throw error;
      await settle(services, event, conclusionOfError(services, event, error, tried));
    }
  };
}

/** Why no turn is taken; null when it is. */
function whyNone({ contextPrompt }: ConversationEvent, tried: number): string | null {
  if (contextPrompt === null) return "The definition was deleted before the turn began";
  return tried > mostTries ? "The turn did not end: the server stopped each time while it ran" : null;
}

/** What comes of an error that came instead of a turn. */
function conclusionOfError({ log }: Services, event: ConversationEvent, error: unknown, tried: number): Conclusion {
  // The turn of an attempt whose process died has not been closed yet.
  if (error instanceof EngineError && error.code === "conflict") {
    return { kind: "wait", reason: error.message, ms: runningMs };
  }
  if (!(error instanceof EngineError)) {
    log.error({ agent: event.agent.slug, eventId: event.id, err: error }, "The turn of an event met an error");
  }
  const setback = setbackOf(error);
  return afterSetback({ ...setback, reason: `The turn was not taken: ${setback.reason}` }, tried);
}

/** Throws `Postponed` where the turn is taken again. */
async function settle(services: Services, event: ConversationEvent, conclusion: Conclusion): Promise<void> {
  const { database, clock, log } = services;
  if (conclusion.kind === "done") return;
  const { kind, reason } = conclusion;
  if (kind === "end") return end(services, event, reason);
  if (kind === "wait") throw new Postponed(reason, clock.now() + conclusion.ms);
  const attempts = event.attempts + 1;
  const own = eq(roomEvents.id, event.id);
  await database.db.update(roomEvents).set({ attempts }).where(own);
  const again = Math.max(conclusion.ms, backoffMs(attempts, Math.random()));
  log.warn(
    { agent: event.agent.slug, eventId: event.id, attempt: attempts, reason },
    "The turn of an event will be tried again",
  );
  throw new Postponed(reason, clock.now() + again);
}

/** Notes in the ledger why the event came to nothing. */
async function end({ database, log }: Services, { id, agent }: ConversationEvent, reason: string): Promise<void> {
  await database.db.update(roomEvents).set({ reason }).where(eq(roomEvents.id, id));
  log.warn({ agent: agent.slug, eventId: id, reason }, "The turn of an event was given up");
}
