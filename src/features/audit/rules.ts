import { mostCounted } from "../../http/paging.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** How many days a filter without an index searches when the query has no `from`. */
export const searchDays = 90;

interface Search {
  from?: Date | undefined;
  to?: Date | undefined;
  search?: string | undefined;
  actor?: string | undefined;
}

/** The period of a page; null for an open end. With `search` or `actor`, which have no index, it always has a start. */
export function searchPeriod({ from, to, search, actor }: Search, now: number): { from: Date | null; to: Date | null } {
  const end = Math.min(to?.getTime() ?? now, now);
  const usual = search || actor ? new Date(end - searchDays * dayMs) : null;
  return { from: from ?? usual, to: to ?? null };
}

/** The most entries that a page may skip. */
export const mostSkipped = mostCounted - 1;

/** A filter for actions: one action, or, when it ends with `.` or `*`, every action with this prefix. */
export function actionFilter(action: string): { action: string; prefix: boolean } {
  if (action.endsWith("*")) return { action: action.slice(0, -1), prefix: true };
  return { action, prefix: action.endsWith(".") };
}
