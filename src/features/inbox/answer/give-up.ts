import { and, eq, gt, inArray, isNull, sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { messengerNames } from "../../../core/channels/messengers.ts";
import { EngineError } from "../../../core/errors.ts";
import type { Db } from "../../../db/client.ts";
import { inbox, outbox } from "../../../db/schema.ts";
import { enqueue } from "../../../jobs/enqueue.ts";
import { failedNotice } from "../outbox/replies.ts";
import { sendTo } from "../outbox/send-to.ts";
import { answerJob } from "./work.ts";

/** A person gets at most one failure notice in this time. */
const noticeEvery = sql`interval '1 hour'`;

interface GivenUp {
  agentId: string;
  organizationId: string;
  conversationId: string;
  channel: string;
  channelId: string;
  ids: readonly string[];
  /** The error, without secrets. */
  error: string;
  /** Whether the person gets a notice. */
  notice: boolean;
}

/**
 * Gives up messages: marks them as failed, sends the person a notice, and enqueues the answer to the next messages.
 * Returns the number of messages. Wake the worker afterwards.
 */
export function giveUp({ database, clock }: Pick<Services, "database" | "clock">, given: GivenUp): Promise<number> {
  const { conversationId, organizationId, ids, error, notice } = given;
  return database.transaction(async (tx) => {
    const failed = await tx
      .update(inbox)
      .set({ status: "failed", error, attempts: sql`${inbox.attempts} + 1` })
      .where(and(inArray(inbox.id, [...ids]), eq(inbox.status, "pending")))
      .returning({ id: inbox.id });
    if (failed.length === 0) return 0;
    if (notice) await tell(tx, given);
    const [next] = await tx
      .select({ id: inbox.id })
      .from(inbox)
      .where(and(eq(inbox.conversationId, conversationId), eq(inbox.status, "pending")))
      .limit(1);
    if (next) await enqueue(tx, answerJob.of({ conversationId }, new Date(clock.now())), { organizationId });
    return failed.length;
  });
}

async function tell(tx: Db, { agentId, organizationId, conversationId, channel, channelId }: GivenUp): Promise<void> {
  const said = and(eq(outbox.conversationId, conversationId), isNull(outbox.turnId), eq(outbox.body, failedNotice));
  const [before] = await tx
    .select({ id: outbox.id })
    .from(outbox)
    .where(and(said, gt(outbox.createdAt, sql`now() - ${noticeEvery}`)))
    .limit(1);
  if (before) return;
  const name = messengerNames.find((known) => known === channel);
  if (!name) return;
  const place = { agentId, channel: name, target: channelId };
  try {
    await sendTo(tx, { ...place, organizationId, conversationId, turnId: null, text: failedNotice });
  } catch (error) {
    // A disabled channel can't send the notice.
    if (!(error instanceof EngineError)) throw error;
  }
}
