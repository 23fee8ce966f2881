import { and, eq, inArray, isNull, or, sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { chatOf } from "../../../core/channels/messengers.ts";
import { subjectKey } from "../../../core/channels/subjects.ts";
import type { Db } from "../../../db/client.ts";
import { isNotHeld } from "../../../db/held.ts";
import { albums, channels, conversations, inbox, jobs, movedChats, optOuts, outbox } from "../../../db/schema.ts";
import { batchesOf, type ErasedAgent, type ErasedPerson, isOneOf, messengerOf } from "../../../jobs/erased-rows.ts";
import { sendJob, tellJob } from "../outbox/outgoing.ts";
import { chatOfTarget } from "../outbox/rows.ts";

/**
 * The ids of the person's private chats with an agent. At most messengers that is the person's own id; those of Slack are
 * found by their conversations. Empty for a channel that is no messenger.
 */
export async function chatsOf(db: Db, person: ErasedPerson, agent: ErasedAgent): Promise<string[]> {
  const { channel, id } = person;
  if (!messengerOf(person)) return [];
  if (channel !== "slack") return [id];
  const { agentId, subject, channelId } = conversations;
  // A literal, as for the index of Slack's people.
  const isTheirs = and(
    eq(agentId, agent.id),
    sql`${conversations.channel} = 'slack'`,
    eq(subject, subjectKey(channel, id)),
  );
  const rows = await db.selectDistinct({ channelId }).from(conversations).where(isTheirs);
  return [...new Set([id, ...rows.map((row) => chatOf(row.channelId))])];
}

/**
 * Deletes what was or will be sent to the person, opt-outs, and the person's messages. A message of a group leaves its
 * row, so that the messenger's repetition of it is known; a message of somebody else loses its quotes of the person.
 */
export async function eraseMessages({ database }: Services, person: ErasedPerson): Promise<void> {
  const { channel, id } = person;
  if (!messengerOf(person)) return;
  for (const agent of person.agents) {
    const { db } = database;
    const chats = await chatsOf(db, person, agent);
    const at = { agentId: agent.id, along: outbox.createdAt };
    const sent = {
      ...at,
      table: outbox,
      where: sql`${outbox.channel} = ${channel} and ${isOneOf(chatOfTarget, chats)}
        and ${isNotHeld("id", outbox.conversationId)}`,
    };
    for await (const ids of batchesOf(db, person, sent)) await db.delete(outbox).where(inArray(outbox.id, ids));
    const isTheirs = eq(inbox.sender, id);
    const isQuoted = sql`strpos(${inbox.payload} ->> 'quotes', ${JSON.stringify(id)}) > 0`;
    const where = sql`${inbox.channel} = ${channel} and (${isTheirs} or ${isQuoted})
      and ${isNotHeld("id", inbox.conversationId)}`;
    for await (const ids of batchesOf(db, person, { agentId: agent.id, table: inbox, along: inbox.createdAt, where })) {
      const blank = {
        sender: sql`case when ${isTheirs} then '' else ${inbox.sender} end`,
        status: sql`case when ${isTheirs} and ${inbox.status} = 'pending' then 'dropped' else ${inbox.status} end`,
        payload: sql`case when ${isTheirs} then '{}' else ${inbox.payload} || ${withoutQuotes} end`,
      };
      await db.update(inbox).set(blank).where(inArray(inbox.id, ids));
    }
    await eraseFew(db, person, agent, chats);
  }
}

const withoutQuotes = sql`jsonb_build_object('quotes', '[]'::jsonb, 'files', (
  select coalesce(jsonb_agg(file), '[]') from jsonb_array_elements(${inbox.payload} -> 'files') file
  where file -> 'isQuoted' is distinct from 'true'))`;

/** The rows of tables that are small, or have an index for it. */
async function eraseFew(db: Db, { channel, id }: ErasedPerson, agent: ErasedAgent, chats: string[]): Promise<void> {
  const of = (table: typeof albums | typeof optOuts | typeof movedChats) =>
    and(eq(table.agentId, agent.id), eq(table.channel, channel));
  const parts = JSON.stringify([{ sender: id }]);
  await db.delete(albums).where(and(of(albums), sql`${albums.parts} @> ${parts}::jsonb`));
  await db.delete(optOuts).where(and(of(optOuts), eq(optOuts.sender, id)));
  await db
    .delete(movedChats)
    .where(and(of(movedChats), or(inArray(movedChats.chatId, chats), inArray(movedChats.movedTo, chats))));
  const field = (name: string) => sql<string>`${jobs.payload} ->> ${name}`;
  const isSending = and(inArray(jobs.kind, [sendJob.kind, tellJob.kind]), isNull(jobs.lockedUntil));
  const target = sql<string>`split_part(${field("target")}, ':', 1)`;
  await db
    .delete(jobs)
    .where(and(isSending, eq(field("agentId"), agent.id), eq(field("channel"), channel), isOneOf(target, chats)));
  // A messenger's refusal may name the receiver.
  await db
    .update(channels)
    .set({ lastError: null })
    .where(and(eq(channels.agentId, agent.id), sql`strpos(${channels.lastError}, ${id}) > 0`));
}
