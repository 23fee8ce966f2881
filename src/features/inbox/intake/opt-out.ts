import { and, eq, inArray, notInArray, sql } from "drizzle-orm";
import { chatOf, type Incoming } from "../../../core/channels/messengers.ts";
import { subjectKey } from "../../../core/channels/subjects.ts";
import { newId } from "../../../core/ids.ts";
import type { Db } from "../../../db/client.ts";
import { inbox, optOuts, outbox } from "../../../db/schema.ts";
import { endTasksOf } from "../../agents/index.ts";
import type { MessengerChannel } from "../../channels/index.ts";
import { chatOfTarget, isUnsent, stoppedAgent } from "../outbox/rows.ts";
import { sendTo } from "../outbox/send-to.ts";
import { heed } from "./keywords.ts";
import type { Receiver } from "./statements.ts";

/** A message that was just stored. */
export interface StoredMessage {
  id: string;
  message: Incoming;
}

interface Scope {
  channel: MessengerChannel;
  receiver: Receiver;
  conversationId: string;
}

/**
 * Applies the keywords in messages of one conversation, in order, and drops messages of people who opted out. Returns
 * whether a notice should be sent.
 */
export async function heedKeywords(tx: Db, scope: Scope, stored: readonly StoredMessage[]): Promise<boolean> {
  const { receiver, channel, conversationId } = scope;
  if (stored.length === 0 || !(receiver.optoutEnabled || receiver.hasOptOuts)) return false;
  let sends = false;
  const { optoutEnabled: enabled, optoutStopKeywords: stopping, optoutResumeKeywords: resuming } = receiver;
  const known = await stoppedSenders(tx, scope, stored);
  for (const [index, { id, message }] of stored.entries()) {
    const { sender } = message;
    const heeded = heed(message.text, known.has(sender), { enabled, stop: stopping, resume: resuming });
    if (heeded === "answer") continue;
    await tx.update(inbox).set({ status: "dropped" }).where(eq(inbox.id, id));
    if (heeded === "stop") {
      known.add(sender);
      const later = stored.slice(index + 1).map((one) => one.id);
      await stop(tx, scope, message, later);
    }
    if (heeded === "resume") {
      known.delete(sender);
      await tx.delete(optOuts).where(and(ofAgent(optOuts, scope), eq(optOuts.sender, sender)));
    }
    const { organizationId, optoutClosingMessage, optoutResumeMessage } = receiver;
    const text = { stop: optoutClosingMessage, resume: optoutResumeMessage, drop: null }[heeded]?.trim();
    if (!text) continue;
    const place = { agentId: channel.agent.id, channel: channel.name, target: message.channelId };
    await sendTo(tx, { ...place, organizationId, conversationId, turnId: null, text });
    sends = true;
  }
  return sends;
}

const ofAgent = (table: typeof optOuts | typeof inbox | typeof outbox, { channel }: Scope) =>
  and(eq(table.agentId, channel.agent.id), eq(table.channel, channel.name));

async function stoppedSenders(tx: Db, scope: Scope, stored: readonly StoredMessage[]): Promise<Set<string>> {
  const senders = inArray(
    optOuts.sender,
    stored.map(({ message }) => message.sender),
  );
  const rows = await tx
    .select({ sender: optOuts.sender })
    .from(optOuts)
    .where(and(ofAgent(optOuts, scope), senders));
  return new Set(rows.map(({ sender }) => sender));
}

/**
 * Gives up the person's earlier messages and the unsent parts to their private chat, and ends the tasks that the agent
 * made for the person.
 */
async function stop(tx: Db, scope: Scope, { sender, channelId, isPrivate }: Incoming, later: string[]): Promise<void> {
  const { channel } = scope;
  const privateId = isPrivate ? chatOf(channelId) : null;
  await tx
    .insert(optOuts)
    .values({ agentId: channel.agent.id, channel: channel.name, sender, channelId: privateId })
    .onConflictDoUpdate({
      target: [optOuts.agentId, optOuts.channel, optOuts.sender],
      set: { channelId: sql`coalesce(excluded.channel_id, ${optOuts.channelId})` },
    });
  const { organizationId } = scope.receiver;
  await endTasksOf(tx, subjectKey(channel.name, sender), {
    agent: { ...channel.agent, organizationId },
    reason: "opt-out",
    by: { actor: { type: "system", id: null, name: "opt-out" }, request: { id: newId(), ip: "" } },
  });
  const said = and(ofAgent(inbox, scope), eq(inbox.sender, sender), eq(inbox.status, "pending"));
  await tx
    .update(inbox)
    .set({ status: "dropped" })
    .where(later.length > 0 ? and(said, notInArray(inbox.id, later)) : said);
  // A destination may name the person's id, which at most messengers is also the id of the private chat.
  const isTheirs = inArray(chatOfTarget, [sender, privateId ?? sender]);
  await tx
    .update(outbox)
    .set({ status: "failed", error: stoppedAgent })
    .where(and(ofAgent(outbox, scope), isTheirs, isUnsent, eq(outbox.status, "pending")));
}
