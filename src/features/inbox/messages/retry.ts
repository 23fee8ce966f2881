import { and, eq, sql } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import { write } from "../../../context/write.ts";
import { channelOf } from "../../../core/channels/channels.ts";
import { EngineError, notFound } from "../../../core/errors.ts";
import type { Db } from "../../../db/client.ts";
import { conversations, inbox, optOuts, outbox } from "../../../db/schema.ts";
import { enqueue, type NewJob } from "../../../jobs/enqueue.ts";
import { findAgent } from "../../agents/index.ts";
import { channelType } from "../../channels/index.ts";
import { answerJob } from "../answer/work.ts";
import { sendWork } from "../outbox/outgoing.ts";
import { findMessage } from "./read.ts";
import type { ChannelMessage } from "./schema.ts";

/**
 * Answers or sends a failed message again, as if it were new. All failed parts of a reply are sent. Throws the 404 of
 * agent, channel and message, and 409 for a message that did not fail or whose person opted out.
 */
export async function retryMessage(ctx: Ctx, slug: string, type: string, id: string): Promise<ChannelMessage> {
  const { id: agentId, organizationId } = await findAgent(ctx, slug);
  const mailbox = { agentId, channel: channelType(type) };
  const found = await findMessage(ctx, mailbox, id);
  if (!found) throw notFound("Message");
  const summary = { channel: mailbox.channel, direction: found.direction, messageId: id };
  const change = { action: "agent.channel.message.retry", target: slug, agentId, agentUnchanged: true, summary };
  await write(ctx, change, async (tx) => {
    const work = found.direction === "in" ? await answerAgain(ctx, tx, id) : await sendAgain(tx, id);
    await enqueue(tx, work ?? refuse(found), { organizationId });
  });
  return (await findMessage(ctx, mailbox, id)) ?? found;
}

function refuse({ status }: ChannelMessage): never {
  const now = status === "failed" ? "is being tried again already" : `is ${status}`;
  throw new EngineError("conflict", `Only a message that failed can be tried again: this one ${now}`);
}

/** Moves a failed message behind all messages that arrived meanwhile. Returns null if it did not fail. */
async function answerAgain({ clock }: Ctx, tx: Db, id: string): Promise<NewJob | null> {
  const next = sql`${conversations.lastInboxSeq} + 1`;
  const of = tx.select({ of: inbox.conversationId }).from(inbox).where(isFailed(inbox, id));
  const [conversation] = await tx
    .update(conversations)
    .set({ lastInboxSeq: next })
    .where(sql`${conversations.id} = ${of}`)
    .returning({ id: conversations.id, seq: conversations.lastInboxSeq });
  if (!conversation) return null;
  await requireListener(tx, id);
  const { seq } = conversation;
  const again = { status: "pending", error: null, restarts: 0, attempts: 0, seq };
  const changed = await tx.update(inbox).set(again).where(isFailed(inbox, id)).returning({ id: inbox.id });
  return changed.length === 0 ? null : answerJob.of({ conversationId: conversation.id }, new Date(clock.now()));
}

/** Refuses a retry when the person has opted out since: the message would be dropped. */
async function requireListener(tx: Db, id: string): Promise<void> {
  const [stopped] = await tx
    .select({ sender: optOuts.sender })
    .from(optOuts)
    .innerJoin(inbox, eq(inbox.sender, optOuts.sender))
    .where(and(eq(inbox.id, id), eq(optOuts.agentId, inbox.agentId), eq(optOuts.channel, inbox.channel)));
  if (stopped) throw new EngineError("conflict", "The person stopped the agent, and has not resumed it");
}

/** Returns null for a part that did not fail. */
async function sendAgain(tx: Db, id: string): Promise<NewJob | null> {
  const [part] = await tx.select().from(outbox).where(isFailed(outbox, id)).for("update");
  if (!part) return null;
  const { agentId, channel, target, turnId } = part;
  const reply = and(
    ...[eq(outbox.agentId, agentId), eq(outbox.channel, channel), eq(outbox.target, target)],
    eq(outbox.status, "failed"),
    turnId === null ? eq(outbox.id, id) : eq(outbox.turnId, turnId),
  );
  const again = { status: "pending", error: null, attempts: 0, retryAt: null, createdAt: sql`now()` };
  await tx.update(outbox).set(again).where(reply);
  return sendWork({ agentId, channel: channelOf(channel), target });
}

const isFailed = (table: typeof inbox | typeof outbox, id: string) => and(eq(table.id, id), eq(table.status, "failed"));
