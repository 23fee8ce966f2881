import { mostCounted } from "../../http/paging.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** The longest period of statistics. */
export const longestDays = 366;
const usualDays = 30;

/** `from` is inclusive, `to` exclusive. */
export interface Period {
  from: Date;
  to: Date;
}

/** The period of statistics: without `to` it ends with today, without `from` it is 30 days long. Days are UTC's. */
export function statsPeriod({ from, to }: { from?: Date | undefined; to?: Date | undefined }, now: number): Period {
  const end = to ?? new Date((Math.floor(now / dayMs) + 1) * dayMs);
  return { from: from ?? new Date(end.getTime() - usualDays * dayMs), to: end };
}

/** Why there are no statistics of this period; null when there are. */
export function periodProblem({ from, to }: Period): string | null {
  if (from > to) return "from: must not be after to, nor without to in the future";
  const days = (to.getTime() - from.getTime()) / dayMs;
  return days > longestDays ? `from: must be at most ${longestDays} days before to` : null;
}

/** How far a filter without an index looks back when the query has no `from`. */
export const searchDays = 90;

interface Search {
  from?: Date | undefined;
  to?: Date | undefined;
  search?: string | undefined;
  actor?: string | undefined;
}

/** The period of a page; null: open. With `search` or `actor`, which no index answers, it always begins somewhere. */
export function searchPeriod({ from, to, search, actor }: Search, now: number): { from: Date | null; to: Date | null } {
  const end = Math.min(to?.getTime() ?? now, now);
  const usual = search || actor ? new Date(end - searchDays * dayMs) : null;
  return { from: from ?? usual, to: to ?? null };
}

/** Entries that a page may skip. */
export const mostSkipped = mostCounted - 1;

export interface Day {
  date: string;
  count: number;
  failures: number;
}

/** Every UTC day of the period in order, days without an entry included. */
export function everyDay({ from, to }: Period, counted: readonly Day[]): Day[] {
  const byDate = new Map(counted.map((day) => [day.date, day]));
  const days: Day[] = [];
  for (let at = Math.floor(from.getTime() / dayMs) * dayMs; at < to.getTime(); at += dayMs) {
    const date = new Date(at).toISOString().slice(0, 10);
    days.push(byDate.get(date) ?? { date, count: 0, failures: 0 });
  }
  return days;
}

/** A filter for actions: one action, or every action with this prefix when the filter ends with `.` or `*`. */
export function actionFilter(action: string): { action: string; prefix: boolean } {
  if (action.endsWith("*")) return { action: action.slice(0, -1), prefix: true };
  return { action, prefix: action.endsWith(".") };
}
