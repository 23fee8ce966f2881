import { sql } from "drizzle-orm";
import { newId } from "../core/ids.ts";
import { storableJson } from "../core/text.ts";
import type { Db } from "../db/client.ts";

/** How often work is tried unless its enqueuer says otherwise: with the pauses between, for about half an hour. */
const usualAttempts = 10;

/** The end of an `insert into jobs`: a job of the same kind and key that waits becomes the new one. */
export const replaceWaiting = `
  on conflict (kind, key) where status = 'pending' and locked_until is null do update
  set payload = excluded.payload, run_at = excluded.run_at, max_attempts = excluded.max_attempts, attempts = 0,
    last_error = null`;

export interface JobOptions {
  /**
   * Work of one kind and key is the same work: while it waits, enqueuing it again replaces its payload and time
   * (so that a `runAt` that is pushed again and again debounces), and it never runs twice at a time.
   */
  key?: string;
  /** Not before; at once when absent. */
  runAt?: Date;
  maxAttempts?: number;
}

/**
 * Leaves work to be done once the transaction that `db` is part of is committed, whatever becomes of this process. It
 * is done at least once: a handler has to bear being run again. Payloads hold ids rather than what people wrote, since
 * those of failed jobs are kept. A worker's `wake` after the commit saves the wait for its next look.
 */
export async function enqueue(
  db: Db,
  kind: string,
  payload: Readonly<Record<string, unknown>>,
  { key, runAt, maxAttempts = usualAttempts }: JobOptions = {},
): Promise<void> {
  await db.execute(sql`
    insert into jobs (id, kind, key, payload, run_at, max_attempts)
    values (${newId()}, ${kind}, ${key ?? null}, ${storableJson(payload)}::jsonb,
      ${runAt?.toISOString() ?? "-infinity"}::timestamptz, ${maxAttempts})
    ${sql.raw(replaceWaiting)}`);
}
