import { and, eq, gt, type SQL, sql } from "drizzle-orm";
import { judge, type Limit, type ThrottleResult, type ThrottleWindow } from "../core/limits/throttle.ts";
import type { Clock } from "../core/ports.ts";
import type { Database } from "./client.ts";
import { assign, column, excluded, fields, insertInto, type RowOf } from "./fragments.ts";
import { throttles } from "./schema.ts";
import { statement } from "./statement.ts";

/** The database and the clock with which requests are counted. */
interface Counts {
  database: Database;
  clock: Clock;
}

/**
 * SQL that counts one request and returns its `ThrottleWindow`: a statement, or a part of a larger one. Exact for any
 * number of processes. `resetsAt` is the end of a window that begins now; no window ends later, even after the clock
 * was set back.
 */
export function upsertThrottle({ key, now, resetsAt }: { key: SQL; now: SQL; resetsAt: SQL }): SQL<ThrottleWindow> {
  const over = sql`${throttles.resetsAt} <= ${now}`;
  const counted = {
    count: sql`case when ${over} then 1 else ${throttles.count} + 1 end`,
    resetsAt: sql`case when ${over} then ${excluded(throttles.resetsAt)}
      else least(${throttles.resetsAt}, ${excluded(throttles.resetsAt)}) end`,
  };
  const row = fields({
    count: throttles.count,
    resets_at_ms: sql<number>`(extract(epoch from ${throttles.resetsAt}) * 1000)::float8`,
  });
  return sql<RowOf<typeof row>>`
    ${insertInto(throttles, { key, count: 1, resetsAt })}
    on conflict (${column(throttles.key)}) do update set ${assign(throttles, counted)}
    returning ${row}`;
}

/** The types of the values of `throttleValues`. */
const throttleTypes = { key: "text", now: "timestamptz", resetsAt: "timestamptz" } as const;

/** The values of an `upsertThrottle`. */
export function throttleValues(key: string, { windowMs }: Limit, now: number) {
  return { key, now: new Date(now).toISOString(), resetsAt: new Date(now + windowMs).toISOString() };
}

const countOne = statement(throttleTypes, upsertThrottle);

/** Counts one request of `key`. Refused requests count too. */
export async function countCall(counts: Counts, key: string, limit: Limit): Promise<ThrottleResult> {
  return (await countWatched(counts, key, limit)).result;
}

/** Like `countCall`; `firstRefusal`: the request is the first refused one of its window. */
export async function countWatched(
  { database, clock }: Counts,
  key: string,
  limit: Limit,
): Promise<{ result: ThrottleResult; firstRefusal: boolean }> {
  const now = clock.now();
  const [row] = await countOne.run(database, throttleValues(key, limit, now));
  if (!row) throw new Error("The throttle's upsert returned no row");
  return { result: judge(row, limit, now), firstRefusal: row.count === limit.calls + 1 };
}

/** Takes back one counted request of `key`. */
export async function uncountCall({ database }: Pick<Counts, "database">, key: string): Promise<void> {
  const counted = and(eq(throttles.key, key), gt(throttles.count, 0));
  await database.db
    .update(throttles)
    .set({ count: sql`${throttles.count} - 1` })
    .where(counted);
}

/** Deletes the count of `key`. */
export async function forgetCalls({ database }: Pick<Counts, "database">, key: string): Promise<void> {
  await database.db.delete(throttles).where(eq(throttles.key, key));
}

/** Windows that have ended. A flood from many addresses leaves many, so every upkeep deletes them. */
export const endedWindows = { table: throttles, since: throttles.resetsAt, afterMs: 0, everyMs: 0 };
