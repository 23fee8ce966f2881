import { and, asc, between, desc, eq, sql } from "drizzle-orm";
import type { Services } from "../../../context.ts";
import type { Persisted } from "../../../core/activity/activity.ts";
import { chatOf, type MessengerName, messengerNames, namesPerson } from "../../../core/channels/messengers.ts";
import type { Db } from "../../../db/client.ts";
import { unlessDeadlocked } from "../../../db/retry.ts";
import { agents, conversations, messages, outbox, turns } from "../../../db/schema.ts";
import type { JobHandler } from "../../../jobs/attempt.ts";
import type { Work } from "../../../jobs/enqueue.ts";
import { lockConversation } from "../intake/statements.ts";
import type { Outgoing, Place } from "./outgoing.ts";

/** The kind of the jobs that write what an agent said of itself into the conversation of the people who read it. */
export const echoKind = "outbox.echo";

/** One text of a turn in the outbox: `count` parts from the part `first` on. */
interface Echo {
  turnId: string;
  first: number;
  count: number;
}

/** The job that has a text of a turn belong to the conversation at its place; none where no people read it. */
export function echoWork(
  { channel }: Pick<Place, "channel">,
  { sends }: Pick<Outgoing, "sends">,
  { turnId, first }: Omit<Echo, "count">,
): Work[] {
  if (sends.length === 0 || !messengerNames.some((name) => name === channel)) return [];
  const payload = { turnId, first, count: sends.length };
  return [{ kind: echoKind, key: `${turnId}:${first}`, payload, runAt: new Date(0) }];
}

/**
 * Appends a text to the transcript of the conversation at its place, so that the agent knows what people answer. A job
 * that runs again appends nothing: the message has the id of the text's first part.
 */
export function createEcho({ database, activity }: Services): JobHandler {
  return async ({ payload }) => {
    const row = await unlessDeadlocked(() => database.transaction((tx) => append(tx, payload as Echo)));
    if (row) activity.persisted(row);
  };
}

/** Null when nothing was appended. */
async function append(tx: Db, echo: Echo): Promise<Persisted | null> {
  const text = await readText(tx, echo);
  if (!text || text.from === text.ref) return null;
  const { agentId, channel, channelId, ref } = text;
  const conversation = await lockConversation(tx, { agentId, channel, channelId, ref, subject: ref });
  // Where the channel was turned off meanwhile nobody reads the text.
  if (!conversation) return null;
  const { lastSeq, messageCount } = conversations;
  const next = sql`(select ${lastSeq} + 1 from ${conversations} where ${conversations.id} = ${conversation.id})`;
  const stored = await tx
    .insert(messages)
    .values({
      ...{ id: text.id, conversationId: conversation.id, seq: next, role: "assistant", content: text.content },
      // It belongs to no turn of this conversation: `replay` tells it by that.
      turnId: null,
      metadata: { sentBy: { turnId: echo.turnId, conversationId: text.from } },
    })
    .onConflictDoNothing({ target: messages.id })
    .returning({ id: messages.id });
  if (stored.length === 0) return null;
  const counted = { lastSeq: sql`${lastSeq} + 1`, messageCount: sql`${messageCount} + 1`, updatedAt: sql`now()` };
  await tx.update(conversations).set(counted).where(eq(conversations.id, conversation.id));
  return { agent: { id: agentId }, conversationId: ref, messageId: text.id };
}

interface Text {
  /** The id of the first part. */
  id: string;
  agentId: string;
  channel: MessengerName;
  channelId: string;
  /** The public id of the conversation at the place. */
  ref: string;
  /** That of the conversation of the turn that sends it; null where the turn has none. */
  from: string | null;
  content: string;
}

/** Null when the text, or its agent, is gone. */
async function readText(tx: Db, { turnId, first, count }: Echo): Promise<Text | null> {
  const rows = await tx
    .select({ part: outbox, slug: agents.slug, from: conversations.ref })
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
  const privateChat = namesPerson(channel, target) ? await findPrivateChat(tx, agentId, channel, target) : null;
  const channelId = privateChat ?? target;
  const content = rows.map(({ part }) => part.body).join("\n\n");
  return { id, agentId, channel, channelId, ref: `${row.slug}:${channel}:${channelId}`, from: row.from, content };
}

/** The private chat in which a person last wrote; null for one who never did. */
async function findPrivateChat(
  tx: Db,
  agentId: string,
  channel: MessengerName,
  person: string,
): Promise<string | null> {
  const { channelId, subject, updatedAt } = conversations;
  const isTheirs = and(eq(conversations.agentId, agentId), eq(conversations.channel, channel), eq(subject, person));
  const [found] = await tx.select({ channelId }).from(conversations).where(isTheirs).orderBy(desc(updatedAt)).limit(1);
  return found ? chatOf(found.channelId) : null;
}
