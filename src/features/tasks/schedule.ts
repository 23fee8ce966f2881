import { isTimezone } from "../../core/time/calendar.ts";
import { cronRunsBetween, expressionProblem, horizonYears, nextCronRun } from "./cron.ts";

/** When a scheduled task runs (decisions §9). */
export type Schedule =
  | { type: "cron"; expression: string; timezone: string }
  | { type: "interval"; everyMs: number }
  | { type: "one-shot"; runAt: string };

/** A minute, in milliseconds: the scheduler ticks twice a minute, and can't keep a shorter interval. */
export const shortestInterval = 60_000;

/** 366 days, in milliseconds. For rarer times there are cron expressions and one-shots, which contain dates. */
export const longestInterval = 366 * 24 * 3_600_000;

/** The most missed runs of a cron expression that are counted, since croner takes some 0.1 ms for each. */
export const countedRuns = 250;

/** Why a task can't have this schedule, as a sentence with advice; null when it can. */
export function scheduleProblem(schedule: Schedule, now: Date): string | null {
  if (schedule.type === "cron") return cronProblem(schedule.expression, schedule.timezone, now);
  if (schedule.type === "interval") return intervalProblem(schedule.everyMs);
  return oneShotProblem(new Date(schedule.runAt), now);
}

function cronProblem(expression: string, timezone: string, now: Date): string | null {
  const problem = expressionProblem(expression);
  if (problem) return problem;
  if (!isTimezone(timezone)) return "Set timezone to an IANA time zone, such as Europe/Rome";
  if (nextCronRun(expression, timezone, now)) return null;
  return `Correct the cron expression: no time of the next ${horizonYears} years matches it`;
}

function intervalProblem(everyMs: number): string | null {
  if (Number.isInteger(everyMs) && everyMs >= shortestInterval && everyMs <= longestInterval) return null;
  return `Set everyMs to a whole number from ${shortestInterval} (1 minute) to ${longestInterval} (366 days)`;
}

function oneShotProblem(runAt: Date, now: Date): string | null {
  if (Number.isNaN(runAt.getTime())) return "Set runAt to an ISO 8601 date and time with a zone";
  if (runAt <= now) return "Set runAt to a time in the future";
  const latest = new Date(now);
  latest.setUTCFullYear(now.getUTCFullYear() + horizonYears);
  return runAt > latest ? `Set runAt to a time within the next ${horizonYears} years` : null;
}

/**
 * The first run after `after`, or null for none. `anchor` is the time from which an interval counts, such as the task's
 * creation: runs come one interval after it, two intervals, and so on, whatever daylight saving time does. For clock
 * changes see `nextCronRun`. Throws for a cron expression or a time zone with a `scheduleProblem`.
 */
export function nextRun(schedule: Schedule, after: Date, anchor: Date): Date | null {
  if (schedule.type === "cron") return nextCronRun(schedule.expression, schedule.timezone, after);
  if (schedule.type === "one-shot") {
    const runAt = new Date(schedule.runAt);
    return runAt > after ? runAt : null;
  }
  const { everyMs } = schedule;
  const passed = Math.floor((after.getTime() - anchor.getTime()) / everyMs);
  return new Date(anchor.getTime() + Math.max(1, passed + 1) * everyMs);
}

/** Missed runs. `more`: there were more than `count`. `last` are the last ones, oldest first. */
export interface MissedRuns {
  count: number;
  more: boolean;
  last: Date[];
}

/**
 * The runs that were due after `lastRun` and until `now`, and the last `most` of them. `lastRun` is the planned time of
 * the last run, not its actual start, or the anchor if there was none: an interval counts from it. Takes limited time
 * for any `lastRun`: runs of a cron expression are counted up to `countedRuns`, or `most` if that is larger. Throws as
 * `nextRun` does.
 */
export function missedRuns(schedule: Schedule, lastRun: Date, now: Date, most: number): MissedRuns {
  if (schedule.type === "cron") {
    const limit = Math.max(most, countedRuns);
    const runs = cronRunsBetween(schedule.expression, schedule.timezone, lastRun, now, limit + 1);
    const counted = runs.slice(-limit);
    return {
      count: counted.length,
      more: runs.length > limit,
      last: counted.slice(counted.length - Math.min(most, counted.length)),
    };
  }
  if (schedule.type === "one-shot") {
    const runAt = new Date(schedule.runAt);
    const missed = runAt > lastRun && runAt <= now ? [runAt] : [];
    return { count: missed.length, more: false, last: missed.slice(0, most) };
  }
  const { everyMs } = schedule;
  const count = Math.max(0, Math.floor((now.getTime() - lastRun.getTime()) / everyMs));
  const kept = Math.min(most, count);
  const last = Array.from({ length: kept }, (_, at) => new Date(lastRun.getTime() + (count - kept + at + 1) * everyMs));
  return { count, more: false, last };
}
