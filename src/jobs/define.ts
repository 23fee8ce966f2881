import type { z } from "zod";
import type { JobHandler, JobKind, JobKinds } from "./attempt.ts";
import type { NewJob } from "./enqueue.ts";

/** A kind of jobs, with one payload type for enqueuing and for the handler. */
export interface JobDefinition<Payload extends object> {
  readonly kind: string;
  /** Makes a job of this kind. It does not run before `runAt`; absent: it may run at once. */
  of(payload: Payload, runAt?: Date): NewJob;
  /** Sets the handler of this kind's jobs. */
  doneBy(handler: JobHandler<Payload>, options?: Omit<JobKind, "run">): JobKinds;
}

const atOnce = new Date(0);

/** Defines a kind of jobs. Jobs whose payloads have the same key are the same work (see `NewJob`). */
export function defineJob<Payload extends object>(
  kind: string,
  schema: z.ZodType<Payload>,
  keyOf: (payload: Payload) => string,
): JobDefinition<Payload> {
  return {
    kind,
    of: (payload, runAt = atOnce) => ({ kind, key: keyOf(payload), payload, runAt }),
    doneBy: (handler, options = {}) => ({
      [kind]: {
        ...options,
        run: async (job, signal) => handler({ ...job, payload: schema.parse(job.payload) }, signal),
      },
    }),
  };
}
