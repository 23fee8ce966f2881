import { type Check, fail, ok, warn } from "../../../core/check.ts";
import type { SchedulerHealth } from "../../room/index.ts";

/** Checks whether this process looks for due work, and whether somebody looks after what was begun. */
export function checkScheduler({ status, stuckRuns, lastTickAt }: SchedulerHealth): Check {
  const name = "scheduler";
  if (status === "stalled") {
    const since = lastTickAt === null ? "since its start" : `since ${lastTickAt}`;
    return fail(name, `Due work of Rooms and tasks is not looked for ${since}: see the log, then restart the server`);
  }
  if (stuckRuns !== null && stuckRuns > 0) {
    const runs = `${stuckRuns} ${stuckRuns === 1 ? "run" : "runs"}`;
    return warn(name, `Of ${runs} the process has been silent for over a minute: see whether every replica still runs`);
  }
  return ok(name, "Due work of Rooms and tasks is looked for");
}
