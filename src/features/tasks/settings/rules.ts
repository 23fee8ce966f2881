import { invalid } from "../../../http/errors.ts";
import { nextRun, type Schedule, scheduleProblem } from "../schedule.ts";

/** When a task runs: its schedule, whether it is on, and the time from which an interval counts. */
interface Timed {
  schedule: Schedule;
  enabled: boolean;
  anchorAt: Date;
}

/** When the task is due next; null when it never is again, and while it is off. */
export function nextRunAt({ schedule, enabled, anchorAt }: Timed, now: Date): Date | null {
  return enabled ? nextRun(schedule, now, anchorAt) : null;
}

/** The field of a schedule that says its times. */
const timeFields = { cron: "expression", interval: "everyMs", "one-shot": "runAt" } as const;

/** Throws the 400 of a schedule that can't be kept. */
export function requireSchedule(schedule: Schedule, now: Date): void {
  const message = scheduleProblem(schedule, now);
  if (message) throw invalid([{ path: ["schedule", timeFields[schedule.type]], message }]);
}
