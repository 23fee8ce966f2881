import type { Services } from "../../../context.ts";
import { type JobHandler, type JobKinds, mostModelJobs } from "../../../jobs/attempt.ts";
import { backoffMs } from "../../../jobs/backoff.ts";
import { Postponed } from "../../../jobs/postponed.ts";
import { matchJob } from "../ledger/work.ts";
import { mostTries } from "../tries.ts";
import { conclude, inactive, noteAttempt, whyNot } from "./conclude.ts";
import { type PendingEvent, readPending } from "./event.ts";
import type { Judge } from "./judge.ts";
import { nextStep } from "./rules.ts";
import { askingSetback } from "./setback.ts";

interface Needs {
  services: Services;
  judge: Judge;
  /** Says that a job is due. */
  wake(): void;
}

/** Many definitions are asked one after the other, and each may wait for its model. */
const longestMs = 60 * 60_000;

/** The jobs that decide what an event means to an agent. */
export function matchJobs(needs: Needs): JobKinds {
  return matchJob.doneBy(match(needs), { limit: mostModelJobs, longestMs });
}

function match({ services, judge, wake }: Needs): JobHandler<{ eventId: string }> {
  const { database, log } = services;
  return async ({ payload: { eventId }, attempt: begun }, signal, together) => {
    const event = await readPending(database.db, eventId);
    if (!event) return;
    const { agent, roomOn, verdicts, definitions, receivedAt } = event;
    const none = unasked(event);
    if (none) return conclude(services, event, none);
    const judging = {
      ...{ agent, definitions, verdicts, roomOn, receivedAt, payload: event.payload },
      warn: ({ definitionId, warning }: { definitionId: string; warning?: string | undefined }) =>
        log.warn({ agent: agent.slug, eventId: event.id, definitionId }, warning ?? ""),
    };
    try {
      // The job itself asks again.
      const judged = await judge(judging, { signal, together, attempts: 1 });
      const end = judged.kind === "act" ? { definition: judged.definition } : endOf(judged.outcome);
      await conclude(services, event, end);
      wake();
    } catch (error) {
      if (signal.aborted) throw error;
      await setBack(services, event, error, begun - 1);
    }
  };
}

/** How an event ends for which no definition is asked; null where they are. */
function unasked({ agent, sourceId }: PendingEvent) {
  if (!agent.active) return { outcome: "room-off", reason: inactive } as const;
  return sourceId === null ? ({ outcome: "no-match", reason: "The event source was deleted" } as const) : null;
}

const endOf = (outcome: "no-match" | "room-off") =>
  outcome === "room-off" ? { outcome, reason: whyNot["room-off"] } : { outcome };

/** Notes that a definition could not be asked. Throws where the job is to be done again; `lost` attempts ended before. */
async function setBack(services: Services, event: PendingEvent, error: unknown, lost: number): Promise<void> {
  const { clock, log } = services;
  const setback = askingSetback(error);
  if (error instanceof Postponed || setback?.kind === "wait") {
    await noteAttempt(services, event, event.attempts);
    throw setback?.kind === "wait" ? new Postponed(setback.reason, clock.now() + setback.ms) : error;
  }
  if (setback === null) throw error;
  if (setback.kind === "end") {
    const { outcome, reason } = setback;
    return conclude(services, event, { outcome, reason });
  }
  const attempts = event.attempts + 1;
  const tried = attempts + lost;
  const step = nextStep(event.definitions, event);
  const asked = "definition" in step ? ` about the definition "${step.definition.name}"` : "";
  const reason = `The model could not be asked${asked}: ${setback.reason}`;
  log.warn({ agent: event.agent.slug, eventId: event.id, attempt: tried, reason: setback.reason }, failed(tried));
  if (tried >= mostTries) return conclude(services, event, { outcome: "matcher-failed", reason });
  await noteAttempt(services, event, attempts);
  throw new Postponed(reason, clock.now() + backoffMs(tried, Math.random()));
}

const failed = (tried: number) =>
  tried >= mostTries
    ? "An event was given up: its model failed"
    : "An event could not be matched and will be tried again";
