import type { Clock } from "../core/ports.ts";
import type { ClaimedJob } from "./claim.ts";

export interface Job<Payload = unknown> {
  id: string;
  payload: Payload;
  /** The number of this attempt, counted from 1. */
  attempt: number;
}

/**
 * Runs a job. A job whose handler throws is retried later. A handler may run twice for one job: the process or the
 * database may fail after the work and before its end is stored. The signal aborts when this process loses the job.
 */
export type JobHandler<Payload = unknown> = (job: Job<Payload>, signal: AbortSignal) => Promise<void>;

/** The handler of one kind of job, and its limits. */
export interface JobKind {
  run: JobHandler;
  /** The most that run at a time in this process, 8 when absent. Jobs of one organization get half of the slots. */
  limit?: number | (() => number);
  /** Whether the kind has so few slots that one organization may take all but one of them. */
  scarce?: boolean;
  /** The longest run of a job, in milliseconds; 10 minutes when absent. */
  longestMs?: number;
}

/**
 * The limit of kinds whose jobs call a model. It bounds the memory of their prompts; the model's own limit decides how
 * many call it at a time.
 */
export const mostModelJobs = 256;

/** The handlers by kind. Jobs of other kinds are left to processes that have a handler for them. */
export type JobKinds = Readonly<Record<string, JobKind>>;

/** A handler that runs longer than its kind allows hangs, and holds a slot that other jobs wait for. */
const usuallyLongestMs = 10 * 60_000;

/** Runs the job's handler; returns null for a success. Ends with the signal even when the handler ignores it. */
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
