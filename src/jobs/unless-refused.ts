import type { Services } from "../context/ctx.ts";
import { EngineError } from "../core/errors.ts";
import type { JobHandler } from "./attempt.ts";

/**
 * Whether an agent refused the work: it is inactive, deleted or without a fast model, or its budget is spent. An early
 * retry would not help.
 */
export function isRefusal(error: unknown): error is EngineError {
  return error instanceof EngineError && ["not-found", "rate-limited"].includes(error.code);
}

/**
 * Makes a handler that succeeds when the agent refuses (`isRefusal`). For work that the agent's next turn enqueues
 * again anyway.
 */
export function unlessRefused<Payload>(
  { log }: Pick<Services, "log">,
  handler: JobHandler<Payload>,
): JobHandler<Payload> {
  return async (job, signal) => {
    try {
      await handler(job, signal);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      log.info({ jobId: job.id, reason: error.message }, "Background work waits for the agent's next turn");
    }
  };
}
