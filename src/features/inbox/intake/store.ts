import { eq, sql } from "drizzle-orm";
import type { Services } from "../../../context.ts";
import { newId } from "../../../core/ids.ts";
import type { Incoming } from "../../../core/messengers.ts";
import type { Db } from "../../../db/client.ts";
import { sqlState } from "../../../db/client.ts";
import { unlessDeadlocked } from "../../../db/retry.ts";
import { conversations, inbox } from "../../../db/schema.ts";
import { enqueue } from "../../../jobs/enqueue.ts";
import type { MessengerChannel } from "../../channels/index.ts";
import type { Activity } from "../activity.ts";
import { answerWork } from "../answer/work.ts";
import { heedKeywords, type StoredMessage } from "./opt-out.ts";
import { payloadOf } from "./payload.ts";
import { type Receiver, readReceiver } from "./receiver.ts";
import { subjectOf } from "./subject.ts";

/**
 * Stores messages and arranges their answer, in one transaction. What is stored already is left out, and everything
 * while the agent or its channel is off (decisions §4).
 */
export type StoreMessages = (channel: MessengerChannel, messages: readonly Incoming[]) => Promise<void>;

interface Needs {
  services: Services;
  activity: Activity;
  /** Says that a job is due at a time, in milliseconds since the epoch, or now. */
  wake(at?: number): void;
}

interface Stored {
  conversationId: string;
  /** When the answer begins; null when nothing is to be answered anew. */
  answerAt: Date | null;
}

export function createStore({ services, activity, wake }: Needs): StoreMessages {
  const { database, notify } = services;
  return async (channel, messages) => {
    if (messages.length === 0) return;
    activity.received(channel.agent.id, channel.name);
    const work = () => database.transaction((tx) => storeAll(tx, services, channel, messages));
    const stored = await unlessDeadlocked(work).catch(unlessGone);
    for (const { conversationId, answerAt } of stored) {
      notify.publish("inbox", conversationId);
      // A notice of the engine's own goes out at once.
      wake();
      if (answerAt) wake(answerAt.getTime());
    }
  };
}

/** An agent that is deleted at this moment gets no messages any more. */
function unlessGone(error: unknown): Stored[] {
  if (sqlState(error) !== "23503") throw error;
  return [];
}

async function storeAll(
  tx: Db,
  services: Services,
  channel: MessengerChannel,
  messages: readonly Incoming[],
): Promise<Stored[]> {
  const agent = await readReceiver(tx, channel);
  if (!agent) return [];
  const groups = [...Map.groupBy(messages, ({ channelId }) => channelId)];
  const stored: Stored[] = [];
  // In one order, since each conversation is locked.
  for (const [channelId, said] of groups.sort(([a], [b]) => (a < b ? -1 : 1))) {
    const found = await storeIn(tx, services, { channel, agent, channelId }, said);
    if (found) stored.push(found);
  }
  return stored;
}

interface Place {
  channel: MessengerChannel;
  agent: Receiver;
  channelId: string;
}

/** Null when nothing is new. */
async function storeIn(tx: Db, services: Services, place: Place, said: readonly Incoming[]): Promise<Stored | null> {
  const { channel, agent } = place;
  const conversation = await lockConversation(tx, place, said);
  const rows = said.map((message, index) => ({
    id: newId(),
    agentId: channel.agent.id,
    channel: channel.name,
    providerId: message.providerId,
    conversationId: conversation.id,
    seq: conversation.lastInboxSeq + 1 + index,
    sender: message.sender,
    payload: payloadOf(message),
  }));
  const inserted = await tx
    .insert(inbox)
    .values(rows)
    .onConflictDoNothing({ target: [inbox.agentId, inbox.channel, inbox.providerId] })
    .returning({ id: inbox.id });
  if (inserted.length === 0) return null;
  const ids = new Set(inserted.map(({ id }) => id));
  const stored = rows.flatMap(({ id }, index): StoredMessage[] => {
    const message = said[index];
    return message && ids.has(id) ? [{ id, message }] : [];
  });
  await tx
    .update(conversations)
    .set({ lastInboxSeq: conversation.lastInboxSeq + rows.length })
    .where(eq(conversations.id, conversation.id));
  const heeded = await heedKeywords(tx, { channel, agent, conversationId: conversation.id }, stored);
  const answerAt = heeded.answerable || heeded.stopped ? answerTime(services, agent) : null;
  if (answerAt) {
    const { kind, key, payload, runAt } = answerWork(conversation.id, answerAt);
    await enqueue(tx, kind, payload, { key, runAt, organizationId: agent.organizationId });
  }
  return { conversationId: conversation.id, answerAt };
}

const answerTime = ({ clock, policies }: Services, { debounceMs }: Receiver) =>
  new Date(clock.now() + (debounceMs ?? policies.values.debounceMs));

/** Makes the conversation, or locks it: messages of one conversation are stored one transaction after the other. */
async function lockConversation(tx: Db, { channel, agent, channelId }: Place, [first]: readonly Incoming[]) {
  const ref = `${channel.agent.slug}:${channel.name}:${channelId}`;
  const [conversation] = await tx
    .insert(conversations)
    .values({
      ...{ id: newId(), ref, channelId, agentId: channel.agent.id, organizationId: agent.organizationId },
      channel: channel.name,
      subject: first ? subjectOf(ref, first) : ref,
    })
    .onConflictDoUpdate({
      target: conversations.ref,
      set: { lastInboxSeq: sql`${conversations.lastInboxSeq}` },
    })
    .returning({ id: conversations.id, lastInboxSeq: conversations.lastInboxSeq });
  if (!conversation) throw new Error("The conversation could not be locked");
  return conversation;
}
