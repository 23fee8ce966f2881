import { missedRuns, nextRun, type Schedule } from "../schedule.ts";

/** A due task; `dueAt` is the first time that was not handled. */
export interface DueTask {
  schedule: Schedule;
  anchorAt: Date;
  dueAt: Date;
  onMissed: "run" | "skip";
}

/** The plan for the due times of a task. */
export interface DuePlan {
  /** The run to make; null for none. */
  run: { dueAt: Date; triggerType: "schedule" | "missed" } | null;
  /** The missed times to record, oldest first. The oldest one also counts `alsoMissed` earlier ones. */
  missed: { dueAt: Date; alsoMissed: number }[];
  nextRunAt: Date | null;
}

/** How late a run may begin and still count as on time, in milliseconds. */
const punctualMs = 60_000;

/** The most missed times with a record of their own. */
export const mostMissed = 20;

/**
 * Runs at most one of the times until `now`: the last one, if it is on time or the task wants late runs. All others are
 * recorded as missed. Throws for an unreadable schedule, such as one with a time zone that the runtime no longer has.
 */
export function planOf({ schedule, anchorAt, dueAt, onMissed }: DueTask, now: Date): DuePlan {
  const later = missedRuns(schedule, dueAt, now, mostMissed + 1);
  const times = later.last.length === later.count ? [dueAt, ...later.last] : later.last;
  const last = times.at(-1) ?? dueAt;
  const isPunctual = now.getTime() - last.getTime() <= punctualMs;
  const run = isPunctual || onMissed === "run" ? last : null;
  const missed = (run ? times.slice(0, -1) : times).slice(-mostMissed);
  const unlisted = 1 + later.count - (run ? 1 : 0) - missed.length;
  return {
    run: run && { dueAt: run, triggerType: isPunctual ? "schedule" : "missed" },
    missed: missed.map((time, index) => ({ dueAt: time, alsoMissed: index === 0 ? unlisted : 0 })),
    nextRunAt: nextRun(schedule, now, anchorAt),
  };
}
