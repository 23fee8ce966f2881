import type { Clock } from "../core/ports.ts";
import type { ClaimedJob } from "./claim.ts";

export interface Job<Payload = unknown> {
  id: string;
  payload: Payload;
  /** The number of this attempt, counted from 1. */
  attempt: number;
}

/**
 * Does a job; a job whose handler throws is tried again later. The handler may run again after it did its work, when the
 * process or the database went away before that was noted. The signal says that the job is no longer this process's to do.
 */
export type JobHandler<Payload = unknown> = (job: Job<Payload>, signal: AbortSignal) => Promise<void>;

/** The work of one kind of job, and its bounds. */
export interface JobKind {
  run: JobHandler;
  /** How many run at a time in this process, 8 when absent. Jobs of one organization get half of the slots. */
  limit?: number | (() => number);
  /** Whether the slots are so few that one organization may have all of them but one. */
  scarce?: boolean;
  /** How long a job may take, in milliseconds; 10 minutes when absent. */
  longestMs?: number;
}

/**
 * The limit of a kind whose jobs ask a model. How many of them ask at a time is up to what the model allows; this bounds
 * what their prompts take of the memory.
 */
export const mostModelJobs = 256;

/** By kind. Jobs of other kinds are left to processes that know them. */
export type JobKinds = Readonly<Record<string, JobKind>>;

/** A handler that takes longer than its kind says hangs, and holds a slot that other jobs wait for. */
const usuallyLongestMs = 10 * 60_000;

/** Runs the job's handler; answers null when that went well. Ends with the signal even where the handler ignores it. */
export async function attempt(
  { clock, kinds }: { clock: Clock; kinds: JobKinds },
  { id, kind, payload, attempts }: ClaimedJob,
  controller: AbortController,
): Promise<Error | null> {
  const { signal } = controller;
  const cut = Promise.withResolvers<never>();
  // A rejection that loses the race must not become an unhandled one.
  cut.promise.catch(() => {});
  signal.addEventListener("abort", () => cut.reject(signal.reason), { once: true });
  const longestMs = kinds[kind]?.longestMs ?? usuallyLongestMs;
  const tooLong = new Error(`It took longer than ${longestMs / 60_000} minutes`);
  const cancel = clock.after(longestMs, () => controller.abort(tooLong));
  try {
    await Promise.race([kinds[kind]?.run({ id, payload, attempt: attempts }, signal), cut.promise]);
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    cancel();
  }
}
