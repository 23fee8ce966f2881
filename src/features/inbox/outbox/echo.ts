import { z } from "@hono/zod-openapi";
import { and, asc, between, desc, eq, gte, inArray, isNull, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Services } from "../../../context/ctx.ts";
import { type OwningAgent, ownerOf, type StoredRowNotice } from "../../../core/activity/activity.ts";
import { type MessengerName, messengerNames } from "../../../core/channels/messengers.ts";
import { subjectKey } from "../../../core/channels/subjects.ts";
import { newId } from "../../../core/ids.ts";
import type { Db } from "../../../db/client.ts";
import { unlessDeadlocked } from "../../../db/retry.ts";
import { agents, conversations, messages, outbox, turns } from "../../../db/schema.ts";
import type { JobKinds } from "../../../jobs/attempt.ts";
import { defineJob } from "../../../jobs/define.ts";
import type { NewJob } from "../../../jobs/enqueue.ts";
import { searchColumn, searchWords } from "../../conversations/index.ts";
import { knownPlace } from "../intake/moved.ts";
import { lockConversation } from "../intake/statements.ts";
import { chatAt, takeOverTold } from "./named-person.ts";
import type { Destination, Outgoing } from "./outgoing.ts";

/** One text of a turn in the outbox: `count` parts from the part `first` on. */
const Echo = z.object({ turnId: z.uuid(), first: z.int(), count: z.int() });
type Echo = z.infer<typeof Echo>;

/** Appends a text that the agent sent on its own to the conversation of its readers. */
const echoJob = defineJob("outbox.echo", Echo, ({ turnId, first }) => `${turnId}:${first}`);

/** The job that appends a turn's text to the conversation at its destination; none for a destination without people. */
export function echoWork(
  { channel }: Pick<Destination, "channel">,
  { sends }: Pick<Outgoing, "sends">,
  { turnId, first }: Omit<Echo, "count">,
): NewJob[] {
  if (sends.length === 0 || !messengerNames.some((name) => name === channel)) return [];
  return [echoJob.of({ turnId, first, count: sends.length })];
}

/**
 * Appends a text to the transcript of the conversation at its destination, so that the agent knows what people reply
 * to. A repeated job appends nothing: the message has the id of the text's first part.
 */
export function echoJobs({ database, activity }: Services): JobKinds {
  return echoJob.doneBy(async ({ payload }) => {
    const row = await unlessDeadlocked(() => database.transaction((tx) => append(tx, payload)));
    if (row) activity.persisted(row);
  });
}

/** Null when nothing was appended. */
async function append(tx: Db, echo: Echo): Promise<StoredRowNotice | null> {
  const text = await readText(tx, echo);
  if (!text || text.from === text.ref) return null;
  const { channel, channelId, ref, told } = text;
  const agentId = text.agent.id;
  const conversation = await lockConversation(tx, {
    agentId,
    channel,
    channelId,
    ref,
    subject: subjectKey("conversation", ref),
  });
  // The channel was turned off meanwhile, so nobody reads the text.
  if (!conversation) return null;
  // The person's first message was in a thread, so the private chat itself has no message of the person.
  if (ref !== told && conversation.lastInboxSeq === 0) {
    await takeOverTold(tx, { agentId, conversationId: conversation.id, told });
  }
  const metadata = { sentBy: { turnId: echo.turnId, conversationId: text.from } };
  const said = { id: text.id, conversationId: conversation.id, content: text.content, metadata };
  return (await appendSaid(tx, said)) ? { agent: text.agent, conversationId: ref, messageId: text.id } : null;
}

/** Appends a text that the agent sent on its own to a locked conversation. Returns whether it was new. */
async function appendSaid(
  tx: Db,
  said: Pick<typeof messages.$inferInsert, "id" | "conversationId" | "content" | "metadata">,
): Promise<boolean> {
  const { lastSeq, messageCount } = conversations;
  const isOwn = eq(conversations.id, said.conversationId);
  const search = searchColumn(searchWords(said.content));
  const next = sql`(select ${lastSeq} + 1 from ${conversations} where ${isOwn})`;
  const stored = await tx
    .insert(messages)
    // A null `turnId` tells `replay` that no turn of this conversation wrote the text.
    .values({ ...said, search, seq: next, role: "assistant", turnId: null })
    .onConflictDoNothing({ target: messages.id })
    .returning({ id: messages.id });
  if (stored.length === 0) return false;
  const counted = { lastSeq: sql`${lastSeq} + 1`, messageCount: sql`${messageCount} + 1`, updatedAt: sql`now()` };
  await tx.update(conversations).set(counted).where(isOwn);
  return true;
}

/** A thread of a chat to which a person writes for the first time. */
interface NewThread {
  agentId: string;
  conversationId: string;
  /** The messenger's id of the thread's first message. */
  root: string;
  /** The possible public ids of the conversation of the thread's chat. */
  chats: readonly string[];
}

/** Appends the agent's own text to the new thread that replies to it. */
export async function appendRoot(tx: Db, { agentId, conversationId, root, chats }: NewThread): Promise<void> {
  // Starts from the chat's messages: a busy agent has a million rows in the outbox.
  const [said] = await tx
    .select({ content: messages.content, metadata: messages.metadata })
    .from(conversations)
    .innerJoin(messages, and(eq(messages.conversationId, conversations.id), isNull(messages.turnId)))
    // A message has the id of its text's first part.
    .innerJoin(first, eq(first.id, messages.id))
    .innerJoin(hung, and(eq(hung.turnId, first.turnId), eq(hung.target, first.target), gte(hung.part, first.part)))
    .where(and(eq(conversations.agentId, agentId), inArray(conversations.ref, chats), eq(hung.providerMessageId, root)))
    .orderBy(desc(first.part))
    .limit(1);
  if (said) await appendSaid(tx, { ...said, id: newId(), conversationId });
}

/** The first part of a text, and the part that a thread replies to. */
const [first, hung] = [alias(outbox, "first"), alias(outbox, "hung")];

interface Text {
  /** The id of the first part. */
  id: string;
  agent: OwningAgent;
  channel: MessengerName;
  channelId: string;
  /** The public id of the conversation at the destination. */
  ref: string;
  /** The public id that is made from the person's id instead of that of their private chat. */
  told: string;
  /** The public id of the sending turn's conversation; null without one. */
  from: string | null;
  content: string;
}

/** Null when the text, or its agent, was deleted. */
async function readText(tx: Db, { turnId, first, count }: Echo): Promise<Text | null> {
  const { slug, organizationId, workspaceId } = agents;
  const rows = await tx
    .select({ part: outbox, agent: { id: agents.id, slug, organizationId, workspaceId }, from: conversations.ref })
    .from(outbox)
    .innerJoin(agents, eq(agents.id, outbox.agentId))
    .leftJoin(turns, eq(turns.id, outbox.turnId))
    .leftJoin(conversations, eq(conversations.id, turns.conversationId))
    .where(and(eq(outbox.turnId, turnId), between(outbox.part, first, first + count - 1)))
    .orderBy(asc(outbox.part));
  const [row] = rows;
  const channel = messengerNames.find((name) => name === row?.part.channel);
  if (!row || !channel) return null;
  const { id, agentId, target } = row.part;
  const refOf = (one: string) => `${row.agent.slug}:${channel}:${one}`;
  const told = refOf(target);
  const place = await knownPlace(tx, { agentId, slug: row.agent.slug, channel }, target);
  const channelId = await chatAt(tx, { agentId, channel, target: place, told });
  const content = rows.map(({ part }) => part.body).join("\n\n");
  return { id, agent: ownerOf(row.agent), channel, channelId, ref: refOf(channelId), told, from: row.from, content };
}
