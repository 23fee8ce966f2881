import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import { mostModelJobs } from "../../jobs/attempt.ts";
import type { Turns } from "../turns/index.ts";
import { handleDue } from "./due/handle.ts";
import { dueJob, dueTasks } from "./due/work.ts";
import { taskRoutes } from "./routes.ts";
import { runTask } from "./runs/run.ts";
import { runJob } from "./runs/store.ts";
import { createUpkeep, oldRuns, retainedRuns } from "./runs/upkeep.ts";
import { eraseTasks } from "./settings/erase.ts";
import { taskTools } from "./tool.ts";

/** In milliseconds. A turn may wait for other turns of its agent, and policies allow a turn an hour. */
const longestMs = 3 * 60 * 60_000;

/** The parts of the engine that scheduled tasks use. */
interface Dependencies {
  services: Services;
  turns: Turns;
  /** Tells the worker that a job is due, now or at a time in milliseconds since the epoch. */
  wake(at?: number): void;
}

/** The job that runs a task. */
export { runJob } from "./runs/store.ts";
/** The rows written with a run's turn that continues after an approval. */
export { continuedRun } from "./runs/turn.ts";
/** The tasks in a bundle. */
export { exportTasks, importTasks } from "./settings/bundle.ts";
export { bundledTasks } from "./settings/schema.ts";

/** The entry point of scheduled tasks: turns at set times. */
export function tasksFeature({ services, turns, wake }: Dependencies): Contribution {
  return {
    routes: [taskRoutes(wake)],
    tools: taskTools({ services, wake }),
    jobs: {
      ...dueJob.doneBy(handleDue({ services, wake })),
      ...runJob.doneBy(runTask({ services, turns }), { limit: mostModelJobs, longestMs }),
    },
    due: dueTasks,
    ticks: { seldom: createUpkeep(services) },
    oldRows: [oldRuns],
    retained: [retainedRuns],
    erase: eraseTasks,
  };
}
