import type { Services } from "../context/ctx.ts";
import { EngineError } from "../core/errors.ts";
import type { JobHandler } from "./attempt.ts";

/**
 * Whether the error says that an agent is off, gone or without a fast model, or that its budget is spent. A soon retry
 * would not help.
 */
export function isRefusal(error: unknown): error is EngineError {
  return error instanceof EngineError && ["not-found", "rate-limited"].includes(error.code);
}

/**
 * A handler that ends well when the agent refuses (`isRefusal`). For work that the agent's next turn enqueues again, and
 * that then does the rest as well.
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
