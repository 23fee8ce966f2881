import type { Services } from "../context.ts";
import { EngineError } from "../core/errors.ts";
import type { JobHandler } from "./attempt.ts";

/** Whether an agent may not be asked now: it is off or gone, or its budget is spent. Trying again soon would not help. */
export function isRefusal(error: unknown): error is EngineError {
  return error instanceof EngineError && ["not-found", "rate-limited"].includes(error.code);
}

/**
 * Ends work well whose agent may not be asked now. For work that comes back with the agent's next turn, and then does
 * what is left over.
 */
export function unlessRefused({ log }: Pick<Services, "log">, handler: JobHandler): JobHandler {
  return async (job, signal) => {
    try {
      await handler(job, signal);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      log.info({ jobId: job.id, reason: error.message }, "Background work waits for the agent's next turn");
    }
  };
}
