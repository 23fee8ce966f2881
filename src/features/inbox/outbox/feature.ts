import type { Services } from "../../../context/ctx.ts";
import { createCircuitBreaker } from "../../../core/limits/circuit-breaker.ts";
import { type JobHandler, type JobKinds, mostModelJobs } from "../../../jobs/attempt.ts";
import { unlessRefused } from "../../../jobs/unless-refused.ts";
import { createAsk } from "../../handoff/index.ts";
import type { Turns } from "../../turns/index.ts";
import type { Activity } from "../activity.ts";
import { echoJobs } from "./echo.ts";
import { sendJob, tellJob } from "./outgoing.ts";
import { sentJob } from "./rows.ts";
import { createSending } from "./sending.ts";
import { createUpkeep } from "./upkeep.ts";
import { createWays } from "./ways.ts";

/** The most sends at a time; they mostly wait for messengers. */
const mostSends = 64;

/** In milliseconds: longer than an agent may take to answer another agent. */
const longestTellMs = 65 * 60_000;

interface Dependencies {
  services: Services;
  turns: Turns;
  activity: Activity;
  wake: (at?: number) => void;
}

interface Outbox {
  jobs: JobKinds;
  /** Call each every 10 seconds. */
  upkeep: (() => Promise<void>)[];
}

/** Sends messages to people and to other agents. */
export function createOutbox({ services, turns, activity, wake }: Dependencies): Outbox {
  const findWay = createWays(services, createAsk(services, turns));
  const run = createSending({ services, activity, breaker: createCircuitBreaker(services.clock), findWay, wake });
  const runHooks: JobHandler<{ turnId: string }> = ({ payload }, signal) => turns.replySent(payload.turnId, signal);
  return {
    jobs: {
      ...sendJob.doneBy(run, { limit: mostSends }),
      ...tellJob.doneBy(run, { limit: mostModelJobs, longestMs: longestTellMs }),
      ...echoJobs(services),
      ...sentJob.doneBy(unlessRefused(services, runHooks), { limit: mostSends }),
    },
    upkeep: createUpkeep(services, wake),
  };
}
