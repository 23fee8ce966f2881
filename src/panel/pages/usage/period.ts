import { dateOf, dayAfter, daysIn, isDate } from "../../data/days.ts";

/** A period of UTC days. */
export interface Period {
  choice: "month" | "last-month" | "custom";
  /** The first day, such as `2026-11-01`. */
  from: string;
  /** The last day. */
  to: string;
}

/** The longest period that the API accepts, in days. */
const longestDays = 366;

/** The period in the page's address; this month by default. */
export function periodOf(query: URLSearchParams, now: number): Period {
  const today = new Date(now);
  const [from, to] = [query.get("from"), query.get("to")];
  if (isDate(from) && isDate(to)) return { choice: "custom", from, to };
  const [year, month] = [today.getUTCFullYear(), today.getUTCMonth()];
  if (query.get("period") === "last-month") {
    return { choice: "last-month", from: dateOf(Date.UTC(year, month - 1)), to: dateOf(Date.UTC(year, month, 0)) };
  }
  return { choice: "month", from: dateOf(Date.UTC(year, month)), to: dateOf(now) };
}

/** The period for the API, whose `to` is exclusive. */
export const askedPeriod = ({ from, to }: Period) => ({ from, to: dayAfter(to) });

/** Why the server would refuse a period; undefined for a valid one. */
export function periodProblem({ from, to }: Period): string | undefined {
  const days = daysIn(from, to);
  if (days < 1) return "The last day is before the first one.";
  return days > longestDays ? `At most ${longestDays} days at a time.` : undefined;
}
