import type { Services } from "../../../context/ctx.ts";
import { type JobHandler, type JobKinds, mostModelJobs } from "../../../jobs/attempt.ts";
import { Postponed } from "../../../jobs/postponed.ts";
import { repeatLater } from "../../turns/index.ts";
import { matchJob, mostTries } from "../ledger/store.ts";
import { conclude, inactive, noteAttempt, whyNot } from "./conclude.ts";
import { type PendingEvent, readPending } from "./event.ts";
import { endOfAsking, type Judge, outcomeOf } from "./judge.ts";
import { nextStep } from "./rules.ts";

interface Dependencies {
  services: Services;
  judge: Judge;
  /** Tells the worker that a job is due. */
  wake(): void;
}

/** In milliseconds. Many definitions are checked one after the other, and each check may wait for its model. */
const longestMs = 60 * 60_000;

/** The jobs that match events. */
export function matchJobs(needs: Dependencies): JobKinds {
  return matchJob.doneBy(match(needs), { limit: mostModelJobs, longestMs });
}

function match({ services, judge, wake }: Dependencies): JobHandler<{ eventId: string }> {
  const { database, log } = services;
  return async ({ payload: { eventId }, attempt: begun }, signal) => {
    const event = await readPending(database.db, eventId);
    if (!event) return;
    const { agent, roomOn, verdicts, definitions, receivedAt } = event;
    const none = unasked(event);
    if (none) return conclude(services, event, none);
    const judging = {
      agent,
      definitions,
      verdicts,
      roomOn,
      receivedAt,
      payload: event.payload,
      warn: ({ definitionId, warning }: { definitionId: string; warning?: string | undefined }) =>
        log.warn({ agent: agent.slug, eventId: event.id, definitionId }, warning ?? ""),
    };
    try {
      // One attempt: the job itself is retried.
      const judged = await judge(judging, { signal, attempts: 1 });
      const end = judged.kind === "act" ? { definition: judged.definition } : endOf(judged.outcome);
      await conclude(services, event, end);
      wake();
    } catch (error) {
      if (signal.aborted) throw error;
      await storeEnd(services, event, error, begun - 1);
    }
  };
}

/** The end of an event that needs no question; null when definitions must be checked. */
function unasked({ agent, sourceId }: PendingEvent) {
  if (!agent.active) return { outcome: "room-off", reason: inactive } as const;
  return sourceId === null ? ({ outcome: "no-match", reason: "The event source was deleted" } as const) : null;
}

const endOf = (outcome: "no-match" | "room-off") =>
  outcome === "room-off" ? { outcome, reason: whyNot["room-off"] } : { outcome };

/**
 * Stores that a definition could not be checked. Throws when the job must run again. `lost`: attempts whose process ended.
 */
async function storeEnd(services: Services, event: PendingEvent, error: unknown, lost: number): Promise<void> {
  const { clock, log } = services;
  if (error instanceof Postponed) await noteAttempt(services, event, event.attempts);
  const attempts = event.attempts + 1;
  const tried = attempts + lost;
  const end = endOfAsking(error, { tried, most: mostTries });
  if (end === null) throw error;
  if (end.kind === "defer") {
    await noteAttempt(services, event, event.attempts);
    return repeatLater(clock, { end, tried });
  }
  if (end.kind === "give-up" && end.why !== "too-often") {
    return conclude(services, event, { outcome: outcomeOf(end), reason: end.reason });
  }
  if (end.kind !== "retry" && end.kind !== "give-up") return;
  const step = nextStep(event.definitions, event);
  const asked = "definition" in step ? ` about the definition "${step.definition.name}"` : "";
  const reason = `The model could not be asked${asked}: ${end.reason}`;
  log.warn({ agent: event.agent.slug, eventId: event.id, attempt: tried, reason: end.reason }, failed(tried));
  if (end.kind === "give-up") return conclude(services, event, { outcome: "matcher-failed", reason });
  await noteAttempt(services, event, attempts);
  repeatLater(clock, { end: { ...end, reason }, tried });
}

const failed = (tried: number) =>
  tried >= mostTries
    ? "An event was given up: its model failed"
    : "An event could not be matched and will be tried again";
