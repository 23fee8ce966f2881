import { sql } from "drizzle-orm";
import { newId } from "../core/ids.ts";
import { storableJson } from "../core/text.ts";
import type { Db } from "../db/client.ts";

/** How often a job is tried unless its enqueuer says otherwise. With the pauses between them, ten tries take about half an hour. */
const usualAttempts = 10;

/** The end of an `insert into jobs`: a job of the same kind and key that waits takes over what the new one says. */
export const replaceWaiting = `
  on conflict (kind, key) where status = 'pending' and locked_until is null do update
  set organization_id = excluded.organization_id, payload = excluded.payload, run_at = excluded.run_at,
    max_attempts = excluded.max_attempts, attempts = 0, last_error = null`;

export interface JobOptions {
  /**
   * Jobs of one kind and key are the same work: while one waits, enqueuing it again replaces its payload and time (so a
   * `runAt` that is pushed again and again debounces), and only one of them runs at a time.
   */
  key?: string;
  /** Jobs of a kind take turns by organization. Jobs without one take turns as if they had one of their own. */
  organizationId?: string;
  /** The job does not run before; at once when absent. */
  runAt?: Date;
  maxAttempts?: number;
}

/**
 * Leaves a job to be done once the transaction that `db` is part of is committed, even if this process dies. The job is
 * done at least once, so its handler has to bear being run again. Payloads hold ids rather than what people wrote, since
 * failed jobs are kept. A worker's `wake` after the commit saves the wait for its next tick.
 */
export async function enqueue(
  db: Db,
  kind: string,
  payload: Readonly<Record<string, unknown>>,
  { key, organizationId, runAt, maxAttempts = usualAttempts }: JobOptions = {},
): Promise<void> {
  await db.execute(sql`
    insert into jobs (id, kind, key, organization_id, payload, run_at, max_attempts)
    values (${newId()}, ${kind}, ${key ?? null}, ${organizationId ?? null}::uuid, ${storableJson(payload)}::jsonb,
      ${runAt?.toISOString() ?? "-infinity"}::timestamptz, ${maxAttempts})
    ${sql.raw(replaceWaiting)}`);
}
