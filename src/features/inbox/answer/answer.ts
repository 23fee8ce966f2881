import type { Services } from "../../../context.ts";
import { messengerNames } from "../../../core/channels/messengers.ts";
import { type JobHandler, type JobKinds, mostModelJobs } from "../../../jobs/attempt.ts";
import { Postponed } from "../../../jobs/postponed.ts";
import { type MessengerChannel, openMessenger } from "../../channels/index.ts";
import { setbackOf, type Turns } from "../../turns/index.ts";
import type { Attach } from "./attachments.ts";
import { batchOf, sharedAttempts } from "./batch.ts";
import type { Newer } from "./newer.ts";
import { type Pending, readPending } from "./pending.ts";
import { conclude, setBack } from "./settle.ts";
import { takeAnswer } from "./turn.ts";
import { answerJob } from "./work.ts";

interface Needs {
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
export function answerJobs(needs: Needs): JobKinds {
  return answerJob.doneBy(answer(needs), { limit: mostModelJobs, longestMs });
}

/** Answers messages of one conversation in one turn. Those that came meanwhile, or are too many, have a job of their own. */
function answer(needs: Needs): JobHandler<{ conversationId: string }> {
  const { services, newer } = needs;
  return async ({ payload: { conversationId }, attempt: begun }, signal) => {
    const pending = await readPending(services.database.db, conversationId);
    if (!pending) return;
    // An attempt that ended with its process was noted by the job only.
    const tried = Math.max(begun - 1, pending.messages[0].attempts);
    const batch = batchOf(pending.messages, tried >= sharedAttempts);
    const settling = { ...needs, pending, batch };
    const arrivals = newer.watch(conversationId, pending.lastSeq);
    try {
      const channel = await openChannel(services, pending);
      if (!channel) return await setBack(settling, { kind: "closed", reason: "The channel is off", notice: false });
      const answered = await takeAnswer(needs, { pending, batch, channel, arrivals, signal });
      signal.throwIfAborted();
      await conclude(settling, answered);
    } catch (error) {
      if (error instanceof Postponed || signal.aborted) throw error;
      const setback = setbackOf(error);
      if (setback.kind === "again") {
        const { slug: agent } = pending.agent;
        const { channel } = pending.conversation;
        const requestId = batch.messages[0].id;
        services.log.error({ agent, channel, conversationId, requestId, err: error }, "Messages met an error");
      }
      await setBack(settling, setback);
    } finally {
      arrivals.end();
    }
  };
}

/** Null for a channel that is off or gone. */
async function openChannel(services: Services, { agent, conversation }: Pending): Promise<MessengerChannel | null> {
  const name = messengerNames.find((known) => known === conversation.channel);
  const channel = name ? await openMessenger(services, { id: agent.id }, name) : null;
  return channel?.enabled ? channel : null;
}
