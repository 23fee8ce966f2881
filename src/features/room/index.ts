import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import { eventBacklog } from "../../db/schema.ts";
import type { ContinuedBy, Turns } from "../turns/index.ts";
import { backlogRoutes } from "./backlog/routes.ts";
import { converseJobs } from "./converse/converse.ts";
import { continuedReply } from "./converse/event.ts";
import { createReceive } from "./intake/receive.ts";
import { intakeRoutes } from "./intake/routes.ts";
import { boundEvents } from "./ledger/backlog-bound.ts";
import { deleteEventsOf, retainedEvents } from "./ledger/forget.ts";
import { ledgerRoutes } from "./ledger/routes.ts";
import { ledgerUpkeep } from "./ledger/upkeep.ts";
import { createTryOut } from "./match/dry-run.ts";
import { createJudge } from "./match/judge.ts";
import { matchJobs } from "./match/match.ts";
import { dryRunRoutes } from "./match/routes.ts";
import { evaluateJobs } from "./scheduler/evaluate.ts";
import { type SchedulerState, schedulerHealth } from "./scheduler/health.ts";
import { dueRooms } from "./scheduler/job.ts";
import { continuedTools } from "./scheduler/tools/index.ts";
import { sendMessageTool } from "./scheduler/tools/send-message.ts";
import { repliesTrigger } from "./scheduler/trigger.ts";
import { roomRoutes } from "./settings/routes.ts";
import { definitionRoutes } from "./sources/definition-routes.ts";
import { sourceRoutes } from "./sources/routes.ts";

/** The scheduler's health. */
export { createSchedulerState, SchedulerHealth } from "./scheduler/health.ts";
/** The Room and the event sources in a bundle. */
export { bundledRoom } from "./settings/schema.ts";
export { exportRoom, importRoom } from "./settings/service.ts";
export { importSources } from "./sources/import.ts";
export { placeDefinitions } from "./sources/import-definitions.ts";
export { bundledSources } from "./sources/schema.ts";
export { exportSources } from "./sources/shown.ts";

/** The parts of the engine that the Room uses. */
export interface RoomDependencies {
  services: Services;
  turns: Turns;
  /** Tells the worker that a job is due, now or at a time in milliseconds since the epoch. */
  wake(at?: number): void;
  scheduler: SchedulerState;
}

/** The tools and rows that the Room adds to turns of it that continue after an approval. */
export function continuedInRoom({ services, wake }: Pick<RoomDependencies, "services" | "wake">): ContinuedBy {
  const replied = continuedReply(services);
  const tools = continuedTools({ services, wake: () => wake() });
  return async (place) => ({ ...(await replied(place)), ...(await tools(place)) });
}

/** The entry point of events, from which agents start turns on their own. */
export function roomFeature(needs: RoomDependencies): Contribution {
  const { services, turns, wake, scheduler } = needs;
  const own = { services, turns, wake: () => wake() };
  const boundBacklog = boundEvents(services);
  const judge = createJudge(services, turns.complete);
  return {
    routes: [
      ...[intakeRoutes(createReceive({ services, boundBacklog, wake: own.wake })), ledgerRoutes(boundBacklog, wake)],
      ...[roomRoutes(own.wake), backlogRoutes, sourceRoutes, definitionRoutes],
      ...[dryRunRoutes(createTryOut(services, judge)), schedulerHealth(scheduler)],
    ],
    observers: [repliesTrigger(own)],
    jobs: {
      ...matchJobs({ services, judge, wake: own.wake }),
      ...converseJobs({
        services,
        turns,
        tools: ({ owner, definitionId }) => [sendMessageTool(own, owner, definitionId)],
      }),
      ...evaluateJobs(own),
    },
    due: dueRooms,
    ticks: { seldom: ledgerUpkeep(services) },
    // Finished entries of the backlog.
    oldRows: [{ table: eventBacklog, since: eventBacklog.completedAt, afterMs: 30 * 86_400_000 }],
    retained: [retainedEvents],
    beforeAgentDelete: deleteEventsOf,
    boot: async () => scheduler.booted(),
  };
}
