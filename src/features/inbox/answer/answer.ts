import type { Services } from "../../../context/ctx.ts";
import { type JobHandler, type JobKinds, mostModelJobs } from "../../../jobs/attempt.ts";
import { repeatLater, type Turns } from "../../turns/index.ts";
import type { Attach } from "./attachments.ts";
import { batchOf, sharedAttempts } from "./batch.ts";
import type { Newer } from "./newer.ts";
import { readPending } from "./pending.ts";
import { storeEnd } from "./store-end.ts";
import { answerAttempt } from "./turn.ts";
import { answerJob } from "./work.ts";

interface Dependencies {
  services: Services;
  turns: Turns;
  attach: Attach;
  newer: Newer;
  /** Says that a job is due. */
  wake(): void;
}

/** A turn may wait for others of its conversation, and the policies let it take an hour. */
const longestMs = 3 * 60 * 60_000;

/** The jobs that answer what came in. */
export function answerJobs(needs: Dependencies): JobKinds {
  return answerJob.doneBy(answer(needs), { limit: mostModelJobs, longestMs });
}

/** Answers messages of one conversation in one turn. Those that came meanwhile, or are too many, have a job of their own. */
function answer(needs: Dependencies): JobHandler<{ conversationId: string }> {
  const { services, turns, newer } = needs;
  return async ({ payload: { conversationId }, attempt: begun }, signal) => {
    const pending = await readPending(services.database.db, conversationId);
    if (!pending) return;
    // An attempt that ended with its process was noted by the job only.
    const tried = Math.max(begun - 1, pending.messages[0].attempts);
    const batch = batchOf(pending.messages, tried >= sharedAttempts);
    const arrivals = newer.watch(conversationId, pending.lastSeq);
    try {
      const attempted = await turns.attempt(answerAttempt(needs, { pending, batch, arrivals, signal }));
      signal.throwIfAborted();
      await storeEnd(needs, { pending, batch }, attempted);
      repeatLater(services.clock, attempted);
    } finally {
      arrivals.end();
    }
  };
}
