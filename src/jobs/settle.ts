import type { Services } from "../context/ctx.ts";
import { clip, storable } from "../core/text/text.ts";
import { patiently } from "../db/retry.ts";
import { backoffMs } from "./backoff.ts";
import type { ClaimedJob, DeadJob } from "./claim.ts";
import { Postponed } from "./postponed.ts";
import { giveUp, type JobClaim, type Settling } from "./queue.ts";

type SettleServices = Pick<Services, "database" | "clock" | "log" | "meters">;

export type Settle = (job: ClaimedJob, held: JobClaim, problem: Error | null) => Promise<boolean>;

/**
 * Stores how a job ended: finished, to be retried, or failed for good. Returns false when the caller no longer holds it.
 */
export function createSettle(
  { database, clock, log, meters }: SettleServices,
  kinds: readonly string[],
  settling: Settling,
): Settle {
  const ended = meters.counter({
    name: "agent_engine_jobs_ended_total",
    help: "Attempts at background work by how they ended: done, postponed, again (to be tried), failed for good, lost (to another process).",
    labels: ["kind", "result"],
  });
  // Monitoring misses an increase from nothing to 1, so each counter starts at 0.
  for (const kind of kinds) ended({ kind, result: "failed" }, 0);
  const setBack = async (job: ClaimedJob, held: JobClaim, err: Error): Promise<boolean> => {
    const { id, kind, key, attempts, maxAttempts } = job;
    const error = clip(storable(err.message), 500);
    const now = clock.now();
    if (err instanceof Postponed) {
      return settling.setBack({ ...held, runAt: err.until, error, counts: false });
    }
    if (attempts >= maxAttempts) {
      const given = await giveUp(database, held, { now, error });
      if (given) sayFailed(log, { id, kind, key, attempts, lastError: error }, err);
      return given;
    }
    const runAt = now + backoffMs(attempts, Math.random());
    const kept = await settling.setBack({ ...held, runAt, error, counts: true });
    const again = new Date(runAt).toISOString();
    if (kept)
      log.warn({ jobId: id, kind, of: workOf(key), attempts, again, err }, "A job failed and will be tried again");
    return kept;
  };
  // A job whose end is not stored would run again, so storing is retried while its lease is renewed.
  return async (job, { id, lock }, problem) => {
    const kept = await patiently(clock, () =>
      problem === null ? settling.complete({ id, lock }) : setBack(job, { id, lock }, problem),
    );
    ended({ kind: job.kind, result: kept ? resultOf(job, problem) : "lost" });
    return kept;
  };
}

function resultOf({ attempts, maxAttempts }: ClaimedJob, problem: Error | null): string {
  if (problem === null) return "done";
  if (problem instanceof Postponed) return "postponed";
  return attempts >= maxAttempts ? "failed" : "again";
}

/** The beginning of a key, for the log: its third part may be a person's phone number. */
const workOf = (key: string | null) => key?.split(":", 2).join(":") ?? null;

/** Writes the only log line about a job that failed for good. */
export function sayFailed(log: Services["log"], { id, key, lastError, ...job }: DeadJob, err?: Error): void {
  // Not named `key`: the log removes fields of that name.
  log.error({ jobId: id, of: workOf(key), ...job, ...(err ? { err } : { error: lastError }) }, "A job failed for good");
}
