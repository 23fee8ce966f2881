import { missedRuns, nextRun, type Schedule } from "../schedule.ts";

/** A task whose time has come: `dueAt` is the first time that was not dealt with. */
export interface DueTask {
  schedule: Schedule;
  anchorAt: Date;
  dueAt: Date;
  onMissed: "run" | "skip";
}

/** The plan for the due times of a task. */
export interface DuePlan {
  /** The run that takes place; null for none. */
  run: { dueAt: Date; triggerType: "schedule" | "missed" } | null;
  /** The times that are only recorded, oldest first; the oldest also stands for `alsoMissed` earlier ones. */
  missed: { dueAt: Date; alsoMissed: number }[];
  nextRunAt: Date | null;
}

/** How late a run may begin, in milliseconds, and still be on time. */
const punctualMs = 60_000;

/** The most missed times with a record of their own. */
export const mostMissed = 20;

/**
 * Runs at most one of the times until `now`: the last one, on time, or late where the task wants that. The other times
 * are recorded as missed. Throws for a schedule that can't be read any more, such as one of a time zone that the runtime lost.
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
