import { getTableColumns, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { newId } from "../core/ids.ts";
import { storableJson } from "../core/text/text.ts";
import type { Db } from "../db/client.ts";
import { assign, column, insertInto } from "../db/fragments.ts";
import { jobs } from "../db/schema.ts";

/** The attempts of a job by default. With the pauses between them, ten take about half an hour. */
const usualAttempts = 10;

/** The conflict target that matches the index `jobs_key`. */
const ofWaiting = sql`(${column(jobs.kind)}, ${column(jobs.key)}) where ${column(jobs.status)} = 'pending' and ${column(jobs.lockedUntil)} is null`;

/** The end of an `insert into jobs`: a waiting job of the same kind and key stays unchanged, and is not locked. */
export const unlessWaiting = sql`on conflict ${ofWaiting} do nothing`;

/** Like `unlessWaiting`, but the waiting job takes the new job's values. */
export const replaceWaiting = sql`on conflict ${ofWaiting} do update set ${assign(jobs, takenOver())}`;

/** Like `replaceWaiting`, but a waiting job that is no retry starts no later than its payload's `latest`. */
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

/** A job to enqueue, made by a `JobDefinition`. */
export interface NewJob {
  kind: string;
  /**
   * Jobs of one kind and key are the same work: while one waits, enqueuing it again replaces its payload and time (so
   * repeatedly moving `runAt` debounces), and only one of them runs at a time.
   */
  key: string | null;
  /** Contains ids only, no texts of people, since failed jobs are stored. */
  payload: object;
  /** The earliest start. */
  runAt: Date;
}

interface JobOptions {
  /** Jobs of a kind take turns by organization. Jobs without one share a lane. */
  organizationId?: string | undefined;
  maxAttempts?: number;
}

/**
 * Enqueues a job that runs after `db`'s transaction commits, even if this process dies. The job runs at least once, so
 * its handler must allow repetition. A worker's `wake` after the commit avoids the wait for its next tick.
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
