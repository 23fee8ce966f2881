import { and, eq, notExists, or, sql } from "drizzle-orm";
import type { DeletedMessage } from "../../../core/channels/messengers.ts";
import type { Db } from "../../../db/client.ts";
import { conversations, inbox, jobs } from "../../../db/schema.ts";
import type { MessengerChannel } from "../../channels/index.ts";
import { answerJob } from "../answer/work.ts";

/**
 * Drops a message that its person took back, with its edits, unless the job that answers it runs: a turn that began is
 * brought to its end (decisions §8).
 */
export async function dropDeleted(
  tx: Db,
  { agent, name }: MessengerChannel,
  { deletes, channelId }: DeletedMessage,
): Promise<void> {
  const ref = `${agent.slug}:${name}:${channelId}`;
  const [conversation] = await tx
    .select({ id: conversations.id })
    .from(conversations)
    .where(and(eq(conversations.ref, ref), eq(conversations.agentId, agent.id)))
    .for("no key update");
  if (!conversation) return;
  const isOfJob = and(eq(jobs.kind, answerJob.kind), eq(jobs.key, conversation.id), eq(jobs.status, "pending"));
  const running = tx
    .select({ found: sql`1` })
    .from(jobs)
    .where(and(isOfJob, sql`${jobs.lockedUntil} is not null`));
  const isIt = or(eq(inbox.providerId, deletes), sql`${inbox.payload} ->> 'edits' = ${deletes}`);
  await tx
    .update(inbox)
    .set({ status: "dropped" })
    .where(and(eq(inbox.conversationId, conversation.id), eq(inbox.status, "pending"), isIt, notExists(running)));
}
