import { type Column, type SQL, sql } from "drizzle-orm";

/**
 * The earlier time of this process's clock, given in milliseconds or as a value of the statement, and the database's. What
 * is deleted for its age is judged by it: the clock of one process may be ahead.
 */
export function earlierNow(now: number | SQL): SQL {
  const at = typeof now === "number" ? sql`${new Date(now).toISOString()}::timestamptz` : now;
  return sql`least(now(), ${at})`;
}

/** Whether a time is more than `ms` milliseconds in the past, by both clocks. */
export function isPast(time: Column, now: number | SQL, ms = 0): SQL<boolean> {
  return sql`${time} < ${earlierNow(now)} - ${ms} * interval '1 millisecond'`;
}
