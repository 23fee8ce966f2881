import { getTableColumns, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { newId } from "../core/ids.ts";
import { storableJson } from "../core/text/text.ts";
import type { Db } from "../db/client.ts";
import { assign, column, insertInto } from "../db/fragments.ts";
import { jobs } from "../db/schema.ts";

/**
 * The attempts of a job unless its enqueuer gives a number. With the pauses between them, ten take about half an hour.
 */
const usualAttempts = 10;

/** The condition of `jobs_key`. */
const ofWaiting = sql`(${column(jobs.kind)}, ${column(jobs.key)}) where ${column(jobs.status)} = 'pending' and ${column(jobs.lockedUntil)} is null`;

/** The end of an `insert into jobs`: a job of the same kind and key that waits stays as it is, and is not locked. */
export const unlessWaiting = sql`on conflict ${ofWaiting} do nothing`;

/** The same, but the job that waits takes over what the new one says. */
export const replaceWaiting = sql`on conflict ${ofWaiting} do update set ${assign(jobs, takenOver())}`;

/**
 * The same, but a job that waits, and not for another try, begins at the `latest` of its payload whatever takes its place.
 */
export const debounceWaiting = sql`on conflict ${ofWaiting} do update set ${assign(jobs, debounced())}`;

function debounced() {
  const { runAt, payload } = getTableColumns(alias(jobs, "excluded"));
  const latest = sql`${jobs.payload} ->> 'latest'`;
  const waits = sql`${jobs.lastError} is null and ${latest} is not null`;
  return {
    ...takenOver(),
    runAt: sql`case when ${waits} then least(${runAt}, (${latest})::timestamptz) else ${runAt} end`,
    payload: sql`case when ${waits} then ${jobs.payload} else ${payload} end`,
  };
}

function takenOver() {
  const { organizationId, payload, runAt, maxAttempts } = getTableColumns(alias(jobs, "excluded"));
  return { organizationId, payload, runAt, maxAttempts, attempts: 0, lastError: null };
}

/** A job that is to be done. A `JobDefinition` makes it. */
export interface NewJob {
  kind: string;
  /**
   * Jobs of one kind and key are the same work: while one waits, enqueuing it again replaces its payload and time (so a
   * `runAt` that is pushed again and again debounces), and only one of them runs at a time.
   */
  key: string | null;
  /** Holds ids rather than what people wrote, since failed jobs are stored. */
  payload: object;
  /** The job does not run before. */
  runAt: Date;
}

interface JobOptions {
  /** Jobs of a kind take turns by organization. Jobs without one take turns as if they had one of their own. */
  organizationId?: string | undefined;
  maxAttempts?: number;
}

/**
 * Leaves a job to be done once the transaction that `db` is part of is committed, even if this process dies. The job is
 * done at least once, so its handler has to bear being run again. A worker's `wake` after the commit saves the wait for
 * its next tick.
 */
export async function enqueue(
  db: Db,
  { kind, key, payload, runAt }: NewJob,
  { organizationId, maxAttempts = usualAttempts }: JobOptions = {},
): Promise<void> {
  const job = {
    id: newId(),
    kind,
    key,
    organizationId: organizationId ?? null,
    payload: sql`${storableJson(payload)}::jsonb`,
    runAt: sql`${runAt.toISOString()}::timestamptz`,
    maxAttempts,
  };
  await db.execute(sql`${insertInto(jobs, job)} ${replaceWaiting}`);
}
