import { and, eq, gt, type SQL, sql } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import { EngineError } from "../../core/errors.ts";
import { assign, column, excluded, fields, insertInto, type RowOf } from "../../db/fragments.ts";
import { throttles } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";

/** The most requests in a window, which begins with the first of them. */
export interface Limit {
  calls: number;
  windowMs: number;
}

/** The verdict on a counted request. */
export interface Verdict {
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Whole seconds until the window ends; at least 1. */
  resetSeconds: number;
}

/** The row that `upsertThrottle` returns. */
export interface ThrottleRow {
  count: number;
  /** Milliseconds since the epoch. */
  resets_at_ms: number;
}

/**
 * SQL that counts one request and returns a `ThrottleRow`, exact for any number of processes: a statement, or a part of
 * a larger one. `resetsAt` is the end of a window that begins now; no window ends later, even after the clock was set
 * back.
 */
export function upsertThrottle({ key, now, resetsAt }: { key: SQL; now: SQL; resetsAt: SQL }): SQL<ThrottleRow> {
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

/** Judges a counted row by a limit. */
export function judge({ count, resets_at_ms }: ThrottleRow, { calls }: Limit, now: number): Verdict {
  return {
    allowed: count <= calls,
    limit: calls,
    remaining: Math.max(0, calls - count),
    resetSeconds: Math.max(1, Math.ceil((resets_at_ms - now) / 1000)),
  };
}

/** The policy `rateLimit`. */
export function policyLimit({ policies }: Pick<Services, "policies">): Limit {
  const { limit, windowSeconds } = policies.values.rateLimit;
  return { calls: limit, windowMs: windowSeconds * 1000 };
}

const countOne = statement(throttleTypes, upsertThrottle);

/** Counts one request of `key`. Refused requests count too. */
export async function countCall(services: Services, key: string, limit: Limit): Promise<Verdict> {
  return (await countWatched(services, key, limit)).verdict;
}

/** `countCall`, with `firstRefusal`: the request is the first refused one of its window. */
export async function countWatched(
  { database, clock }: Services,
  key: string,
  limit: Limit,
): Promise<{ verdict: Verdict; firstRefusal: boolean }> {
  const now = clock.now();
  const [row] = await countOne.run(database, throttleValues(key, limit, now));
  if (!row) throw new Error("The throttle's upsert returned no row");
  return { verdict: judge(row, limit, now), firstRefusal: row.count === limit.calls + 1 };
}

/** Takes back one counted request of `key`. */
export async function uncountCall({ database }: Services, key: string): Promise<void> {
  const counted = and(eq(throttles.key, key), gt(throttles.count, 0));
  await database.db
    .update(throttles)
    .set({ count: sql`${throttles.count} - 1` })
    .where(counted);
}

/** Deletes the count of `key`. */
export async function forgetCalls({ database }: Services, key: string): Promise<void> {
  await database.db.delete(throttles).where(eq(throttles.key, key));
}

/** The 429 of a request limit. */
export class Throttled extends EngineError {
  readonly verdict: Verdict;

  constructor(verdict: Verdict, message: string) {
    super("rate-limited", message, { headers: refusalHeaders(verdict) });
    this.verdict = verdict;
  }
}

/**
 * Throws the 429 of decisions §3 unless the request was allowed. `X-RateLimit-Reset` is in seconds, as `Retry-After`.
 */
export function requireAllowed(verdict: Verdict, what = "requests"): void {
  if (verdict.allowed) return;
  const { resetSeconds } = verdict;
  const when = `try again in ${resetSeconds} second${resetSeconds === 1 ? "" : "s"}`;
  throw new Throttled(verdict, `Too many ${what}: ${when}`);
}

type Standing = Omit<Verdict, "allowed">;

/** The headers of every 429 by a limit of the engine. */
export function refusalHeaders(standing: Standing): Record<string, string> {
  return { "Retry-After": String(standing.resetSeconds), ...standingHeaders(standing) };
}

/** The headers about the rest of a limit, for responses of any status. */
export function standingHeaders({ limit, remaining, resetSeconds }: Standing): Record<string, string> {
  return {
    "X-RateLimit-Limit": String(limit),
    "X-RateLimit-Remaining": String(remaining),
    "X-RateLimit-Reset": String(resetSeconds),
  };
}

/** Windows that have ended. A flood of strangers leaves many, so every upkeep deletes them. */
export const endedWindows = { table: throttles, since: throttles.resetsAt, afterMs: 0, everyMs: 0 };
