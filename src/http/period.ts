import { z } from "@hono/zod-openapi";
import { EngineError } from "../core/errors.ts";
import { zMoment } from "../core/time/calendar.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** The longest period of statistics, in days. */
const longestDays = 366;
const usualDays = 30;

const moment = "must be an ISO 8601 date, or date and time with a zone";

/** Only in the years 1900 to 9999 do PostgreSQL and JavaScript write dates in the same way. */
export const isCommonYear = (date: Date) => date.getUTCFullYear() >= 1900 && date.getUTCFullYear() <= 9999;
export const uncommonYear = "must be in the years 1900 to 9999";

const Moment = z
  .union([z.iso.date(), zMoment()], moment)
  .transform((text) => new Date(text))
  .refine(isCommonYear, uncommonYear);

/** The fields of a query that set a period. */
export const periodQuery = {
  from: Moment.optional().openapi({
    type: "string",
    description: "ISO 8601 date, or date and time with a zone; a date means its beginning in UTC. Inclusive.",
    example: "2026-11-01",
  }),
  to: Moment.optional().openapi({
    type: "string",
    description: "Like `from`, but exclusive.",
    example: "2026-12-01",
  }),
};

/** Whether the period ends after it begins; for a `refine` of its query. */
export const isInOrder = ({ from, to }: AskedPeriod) => !from || !to || from <= to;
export const notInOrder = { path: ["from"], message: "must not be after to" };

/** `from` is inclusive, `to` exclusive. */
export interface Period {
  from: Date;
  to: Date;
}

interface AskedPeriod {
  from?: Date | undefined;
  to?: Date | undefined;
}

/** The period of statistics. Without `to` it ends today, without `from` it is 30 days long. Days are those of UTC. */
export function statsPeriod({ from, to }: AskedPeriod, now: number): Period {
  const end = to ?? new Date((Math.floor(now / dayMs) + 1) * dayMs);
  return { from: from ?? new Date(end.getTime() - usualDays * dayMs), to: end };
}

/** Why statistics of this period are refused; null when they are not. */
export function periodProblem({ from, to }: Period): string | null {
  if (from > to) return "from: must not be after to, nor without to in the future";
  const days = (to.getTime() - from.getTime()) / dayMs;
  return days > longestDays ? `from: must be at most ${longestDays} days before to` : null;
}

/** `statsPeriod`; throws the 400 for a period that is too long or ends before it begins. */
export function requirePeriod(asked: AskedPeriod, now: number): Period {
  const period = statsPeriod(asked, now);
  const problem = periodProblem(period);
  if (problem !== null) throw new EngineError("bad-request", problem);
  return period;
}

/** The UTC date of a time, such as `2026-11-21`. */
export const dateOf = (at: Date | number) => new Date(at).toISOString().slice(0, 10);

/** Every UTC day of the period, in order. Days without counts equal `blank`. */
export function everyDay<Counts extends object>(
  { from, to }: Period,
  counted: readonly (NoInfer<Counts> & { date: string })[],
  blank: Counts,
): (Counts & { date: string })[] {
  const byDate = new Map(counted.map((day) => [day.date, day]));
  const days: (Counts & { date: string })[] = [];
  for (let at = Math.floor(from.getTime() / dayMs) * dayMs; at < to.getTime(); at += dayMs) {
    const date = dateOf(at);
    days.push(byDate.get(date) ?? { ...blank, date });
  }
  return days;
}
