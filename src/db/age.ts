import { type Column, type SQL, sql } from "drizzle-orm";

/**
 * The earlier of two times: this process's clock (in milliseconds, or a value of the statement) and the database's
 * clock. Deletion by age uses it, since the clock of one process may be ahead.
 */
export function earlierNow(now: number | SQL): SQL {
  const at = typeof now === "number" ? sql`${new Date(now).toISOString()}::timestamptz` : now;
  return sql`least(now(), ${at})`;
}

/** Whether a time is more than `ms` milliseconds in the past, by both clocks. */
export function isPast(time: Column, now: number | SQL, ms = 0): SQL<boolean> {
  return sql`${time} < ${earlierNow(now)} - ${ms} * interval '1 millisecond'`;
}
