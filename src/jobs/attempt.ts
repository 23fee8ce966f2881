import type { Clock } from "../core/ports.ts";
import type { ClaimedJob } from "./queue.ts";

export interface Job {
  id: string;
  payload: unknown;
  /** How often it was begun, this time included. */
  attempt: number;
}

/**
 * Does a job; what it throws is tried again later. It may be run again after it did its work, when the process or the
 * database went away before that was noted. The signal says that the job is no longer this process's to do.
 */
export type JobHandler = (job: Job, signal: AbortSignal) => Promise<void>;

/** By kind. Jobs of other kinds are left to processes that know them. */
export type JobHandlers = Readonly<Record<string, JobHandler>>;

/** A handler that takes longer hangs, and holds a place that others wait for. */
const longestMs = 10 * 60_000;

/** Runs the job's handler; null when it went well. Ends with the signal even where the handler ignores that. */
export async function attempt(
  clock: Clock,
  handlers: JobHandlers,
  { id, kind, payload, attempts }: ClaimedJob,
  controller: AbortController,
): Promise<Error | null> {
  const { signal } = controller;
  const cut = Promise.withResolvers<never>();
  // Whoever loses the race must not become an unhandled rejection.
  cut.promise.catch(() => {});
  signal.addEventListener("abort", () => cut.reject(signal.reason), { once: true });
  const cancel = clock.after(longestMs, () => controller.abort(new Error("It took longer than 10 minutes")));
  try {
    await Promise.race([handlers[kind]?.({ id, payload, attempt: attempts }, signal), cut.promise]);
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    cancel();
  }
}
