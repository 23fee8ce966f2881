import type { Database } from "../db/client.ts";

const keptDays = 30;

export interface FailedJob {
  id: string;
  kind: string;
  key: string | null;
  attempts: number;
  error: string;
  /** ISO 8601. */
  failedAt: string;
}

export interface JobsReport {
  /** Jobs that are due now or later, running ones included. */
  pending: number;
  /** Jobs that failed for good, until they are forgotten. */
  failed: number;
  /** Jobs that failed for good in the last 24 hours. */
  failedLately: number;
  /** The newest failed jobs, at most 20. */
  newest: FailedJob[];
}

const report = `
select
  (select count(*)::int from jobs where status = 'pending') as pending,
  (select count(*)::int from jobs where status = 'failed') as failed,
  (select count(*)::int from jobs where status = 'failed' and failed_at > $1::timestamptz - interval '24 hours') as "failedLately",
  (select coalesce(jsonb_agg(to_jsonb(f) - 'at' || jsonb_build_object('failedAt', f.at) order by f.at desc), '[]') from (
    select id, kind, key, attempts, coalesce(last_error, '') as error,
      to_char(failed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at
    from jobs where status = 'failed' order by failed_at desc limit 20) f) as newest`;

/** Counts the jobs, and lists those that failed last. */
export async function inspectJobs(database: Database, now: number): Promise<JobsReport> {
  const [row] = await database.query<JobsReport>(report, [new Date(now).toISOString()]);
  return row ?? { pending: 0, failed: 0, failedLately: 0, newest: [] };
}

/** Deletes the jobs that failed 30 days ago or earlier. */
export async function forgetFailed(database: Database, now: number): Promise<void> {
  const before = new Date(now - keptDays * 24 * 60 * 60 * 1000).toISOString();
  await database.query("delete from jobs where status = 'failed' and failed_at < $1::timestamptz", [before]);
}
