import type { Schedule } from "../../../../../client/index.ts";
import { countText, momentText } from "../../../../ui/text/numbers.ts";

/** A schedule as the form's fields contain it. */
export interface WrittenSchedule {
  type: Schedule["type"];
  expression: string;
  timezone: string;
  every: number;
  unit: Unit;
  /** The value of a date-and-time field, in the reader's zone. */
  runAt: string;
}

export type Unit = "seconds" | "minutes" | "hours" | "days";

const unitMs: Readonly<Record<Unit, number>> = {
  seconds: 1_000,
  minutes: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
};

/** The reader's time zone, by its IANA name. */
export const ownZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Common expressions; `cronWords` describes them in words. */
export const usualTimes = ["0 * * * *", "0 9 * * *", "0 9 * * 1-5", "0 9 * * 1", "0 9 1 * *"] as const;

/** The schedule of a new task: on weekdays at nine o'clock. */
export const usualSchedule = (timezone: string): WrittenSchedule => ({
  type: "cron",
  expression: "0 9 * * 1-5",
  timezone,
  every: 1,
  unit: "hours",
  runAt: "",
});

export function writtenSchedule(schedule: Schedule, timezone: string): WrittenSchedule {
  const usual = { ...usualSchedule(timezone), type: schedule.type };
  switch (schedule.type) {
    case "cron":
      return { ...usual, expression: schedule.expression, timezone: schedule.timezone };
    case "interval":
      return { ...usual, ...inUnits(schedule.everyMs) };
    case "one-shot":
      return { ...usual, runAt: localText(new Date(schedule.runAt)) };
  }
}

/** The interval in the largest unit that leaves no fraction. */
function inUnits(everyMs: number): { every: number; unit: Unit } {
  const unit = (["days", "hours", "minutes"] as const).find((one) => everyMs % unitMs[one] === 0) ?? "seconds";
  return { every: everyMs / unitMs[unit], unit };
}

/** The schedule for the API. */
export function scheduleOf({ type, expression, timezone, every, unit, runAt }: WrittenSchedule): Schedule {
  switch (type) {
    case "cron":
      return { type, expression, timezone };
    case "interval":
      return { type, everyMs: Math.round(every * unitMs[unit]) };
    case "one-shot":
      return { type, runAt: momentOf(runAt) };
  }
}

/** Why an interval is refused: in the chosen unit, if that leaves no fraction, instead of the API's milliseconds. */
export const everyProblem = (message: string, written: Unit): string =>
  message.replace(/(?<=^must be at (?:least|most) )\d+$/, (limit) => {
    const own = { every: Number(limit) / unitMs[written], unit: written };
    const { every, unit } = Number.isInteger(own.every) ? own : inUnits(Number(limit));
    return `${every} ${every === 1 ? unit.slice(0, -1) : unit}`;
  });

/** Converts the value of a date-and-time field, which is in the reader's zone, to a time. Throws for an empty one. */
function momentOf(local: string): string {
  const date = new Date(local);
  if (local === "" || Number.isNaN(date.getTime())) throw new Error("Choose the date and time of the run");
  return date.toISOString();
}

function localText(date: Date): string {
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** A schedule in words. */
export function wordsOf(schedule: Schedule): string {
  switch (schedule.type) {
    case "cron":
      return `${cronWords(schedule.expression)} (${schedule.timezone})`;
    case "interval": {
      const { every, unit } = inUnits(schedule.everyMs);
      return every === 1 ? `every ${unit.slice(0, -1)}` : `every ${countText(every)} ${unit}`;
    }
    case "one-shot":
      return `once, ${momentText(schedule.runAt)}`;
  }
}

/** Puts common expressions into words; returns others unchanged. */
export function cronWords(expression: string): string {
  const [minute = "", hour = "", day, month, weekday = "", ...more] = expression.trim().split(/\s+/);
  if (month !== "*" || more.length > 0 || !/^[0-5]?\d$/.test(minute)) return expression;
  if (day === "*" && hour === "*" && weekday === "*") return `every hour, at minute ${minute}`;
  if (!/^([01]?\d|2[0-3])$/.test(hour)) return expression;
  const at = `at ${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
  if (day === "1" && weekday === "*") return `on the first of each month ${at}`;
  if (day !== "*") return expression;
  if (weekday === "*") return `every day ${at}`;
  if (weekday === "1-5") return `on working days ${at}`;
  const name = weekdays[Number(weekday) % 7];
  return /^[0-7]$/.test(weekday) && name !== undefined ? `on ${name}s ${at}` : expression;
}
