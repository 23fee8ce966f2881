import type { Services } from "../context.ts";
import { EngineError } from "../core/errors.ts";
import type { JobHandler } from "./attempt.ts";

/**
 * Ends work well whose agent may not be asked now, because it is off or gone or its budget is spent: trying again soon
 * would not help. For work that comes back with the agent's next turn, and then does what is left over.
 */
export function unlessRefused({ log }: Pick<Services, "log">, handler: JobHandler): JobHandler {
  return async (job, signal) => {
    try {
      await handler(job, signal);
    } catch (error) {
      if (!(error instanceof EngineError) || !["not-found", "rate-limited"].includes(error.code)) throw error;
      log.info({ jobId: job.id, reason: error.message }, "Background work waits for the agent's next turn");
    }
  };
}
