import { inArray, sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { inbox } from "../../../db/schema.ts";
import { type JobHandler, type JobKinds, mostModelJobs } from "../../../jobs/attempt.ts";
import { type AttemptResult, repeatLater, type Turns } from "../../turns/index.ts";
import type { Attach } from "./attachments.ts";
import { type Batch, batchOf, sharedAttempts } from "./batch.ts";
import { giveUp } from "./give-up.ts";
import type { Newer } from "./newer.ts";
import { type PendingConversation, readPending } from "./pending.ts";
import { answerAttempt } from "./turn.ts";
import { answerJob } from "./work.ts";

interface Dependencies {
  services: Services;
  turns: Turns;
  attach: Attach;
  newer: Newer;
  /** Tells the worker that a job is due. */
  wake(): void;
}

/** In milliseconds. A turn may wait for other turns of its conversation, and policies allow a turn an hour. */
const longestMs = 3 * 60 * 60_000;

/** The jobs that answer incoming messages. */
export function answerJobs(needs: Dependencies): JobKinds {
  return answerJob.doneBy(answer(needs), { limit: mostModelJobs, longestMs });
}

/**
 * Answers messages of one conversation in one turn. Messages that arrive meanwhile, or are too many, get another job.
 */
function answer(needs: Dependencies): JobHandler<{ conversationId: string }> {
  const { services, turns, newer } = needs;
  return async ({ payload: { conversationId }, attempt: begun }, signal) => {
    const pending = await readPending(services.database.db, conversationId);
    if (!pending) return;
    // If a process died in an attempt, only the job counted that attempt.
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

/** Messages with the result of one attempt to answer them. */
interface AnsweredBatch {
  pending: PendingConversation;
  batch: Batch;
}

/** Stores how an attempt to answer messages ended, unless RECORD has stored it. */
async function storeEnd(
  { services, wake }: { services: Services; wake(): void },
  { pending, batch }: AnsweredBatch,
  { end, turn, tried }: AttemptResult,
): Promise<void> {
  const { database, log } = services;
  const { agent, conversation } = pending;
  const { id: conversationId, channel, channelId, organizationId } = conversation;
  const update = (set: object) => database.db.update(inbox).set(set).where(inArray(inbox.id, batch.ids));
  if (end.kind === "defer" && turn?.outcome.status === "aborted" && turn.outcome.reason === "superseded") {
    // The job of the newer messages, which already waits, replaces this one.
    await update({ restarts: sql`${inbox.restarts} + 1` });
  }
  if ((end.kind !== "retry" && end.kind !== "give-up") || (end.kind === "give-up" && end.why === "stopped")) return;
  if (end.kind === "retry") {
    const attempts = end.alone ? sql`greatest(${inbox.attempts} + 1, ${sharedAttempts})` : sql`${inbox.attempts} + 1`;
    await update({ attempts });
  } else if (end.why === "tools-called") {
    // RECORD stored the notice to the person.
    await update({ status: "failed", error: end.reason });
  } else {
    const owner = { agentId: agent.id, organizationId, conversationId, channelId, channel };
    await giveUp(services, { ...owner, ids: batch.ids, error: end.reason, notice: end.why !== "off" });
    wake();
  }
  const about = { agent: agent.slug, channel, conversationId, requestId: batch.messages[0].id };
  log.warn(
    { ...about, messages: batch.ids.length, attempt: tried, reason: end.reason },
    end.kind === "retry" ? "Messages could not be answered and will be tried again" : "Messages were given up",
  );
}
