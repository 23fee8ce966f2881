import { and, desc, eq, getTableColumns, gt, type SQL, sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { jobs } from "../db/schema.ts";
import type { OldRows } from "./old-rows.ts";

const dayMs = 24 * 60 * 60 * 1000;

interface FailedJob {
  id: string;
  kind: string;
  key: string | null;
  attempts: number;
  error: string;
  /** ISO 8601. */
  failedAt: string;
}

export interface JobsReport {
  /** The jobs due now or later, including running ones. */
  pending: number;
  /** Jobs that failed for good and are not deleted yet. */
  failed: number;
  /** Jobs that failed for good in the last 24 hours. */
  failedLately: number;
  /** The newest failed jobs, at most 20. */
  newest: FailedJob[];
}

const countOf = (condition: SQL | undefined) => sql<number>`(count(*) filter (where ${condition}))::int`;

/** Counts the jobs, and lists the last failed ones. */
export async function inspectJobs({ db }: Database, now: number): Promise<JobsReport> {
  const isFailed = eq(jobs.status, "failed");
  const lately = gt(jobs.failedAt, new Date(now - dayMs));
  const [counts] = await db
    .select({
      pending: countOf(eq(jobs.status, "pending")),
      failed: countOf(isFailed),
      failedLately: countOf(and(isFailed, lately)),
    })
    .from(jobs);
  const { id, kind, key, attempts, failedAt, lastError } = getTableColumns(jobs);
  const rows = await db
    .select({ id, kind, key, attempts, failedAt, lastError })
    .from(jobs)
    .where(isFailed)
    .orderBy(desc(failedAt))
    .limit(20);
  return { pending: 0, failed: 0, failedLately: 0, ...counts, newest: rows.map(toFailedJob) };
}

type FailedRow = Pick<typeof jobs.$inferSelect, "id" | "kind" | "key" | "attempts" | "failedAt" | "lastError">;

function toFailedJob({ failedAt, lastError, ...job }: FailedRow): FailedJob {
  return { ...job, error: lastError ?? "", failedAt: failedAt?.toISOString() ?? "" };
}

/** Failed jobs are deleted after 30 days. */
export const failedJobs: OldRows = {
  table: jobs,
  since: jobs.failedAt,
  afterMs: 30 * dayMs,
  where: eq(jobs.status, "failed"),
};
