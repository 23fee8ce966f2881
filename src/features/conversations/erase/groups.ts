import { and, eq, or, sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import type { Db } from "../../../db/client.ts";
import { unlessDeadlocked } from "../../../db/retry.ts";
import {
  conversations,
  files,
  hookExecutions,
  memories,
  messages,
  outbox,
  streamChunks,
  toolCalls,
  turns,
} from "../../../db/schema.ts";
import { batchesOf, type ErasedAgent, type ErasedPerson, isOneOf } from "../../../jobs/erased-rows.ts";
import { deleteFilesWhere } from "../../files/index.ts";
import { lockTurns } from "../remove.ts";
import { eraseWhole, isOwn } from "./own.ts";

/** The most messages that one statement looks at. */
const pageSize = 2_000;

/** Messages of a conversation: those of some turns, and some that belong to no turn. */
interface Found {
  turnIds: string[];
  messageIds: string[];
}

/**
 * Deletes the turns of groups that name the person, as the speaker or in a quote, with the agent's replies. Title,
 * summary and what the agent learned there go too, since they may be from these turns.
 */
export async function eraseInGroups(services: Services, person: ErasedPerson, agent: ErasedAgent): Promise<void> {
  const { database, activity } = services;
  const where = sql`${conversations.channel} = ${person.channel} and ${conversations.messageCount} > 0
    and not ${isOwn(person, agent)}`;
  const wanted = { table: conversations, along: conversations.id, agentId: agent.id, where };
  for await (const ids of batchesOf(database.db, person, wanted)) {
    for (const id of ids) {
      person.signal.throwIfAborted();
      const found = await findNaming(database.db, id, person.id);
      if (found.turnIds.length === 0 && found.messageIds.length === 0) continue;
      const refs = await unlessDeadlocked(() =>
        database.transaction((tx) => eraseIn(tx, services, { person, agent, id, found })),
      );
      for (const ref of refs) activity.forget({ agentId: agent.id, ref });
    }
  }
}

/** Finds the person's id as a whole word, in pages of one conversation. */
async function findNaming(db: Db, conversationId: string, personId: string): Promise<Found> {
  const { id, turnId, seq, content } = messages;
  const word = `(^|[^[:alnum:]])${personId.replaceAll(/[^A-Za-z0-9]/g, "\\$&")}($|[^[:alnum:]])`;
  const found: Found = { turnIds: [], messageIds: [] };
  for (let page = { read: pageSize, last: 0 }; page.read === pageSize; ) {
    const [row] = await db.execute<{ read: number; last: number; turns: string[]; ids: string[] }>(sql`
      with page as materialized (
        select ${id} as id, ${turnId} as turn_id, ${seq} as seq, ${content} as content from ${messages}
        where ${messages.conversationId} = ${conversationId} and ${seq} > ${page.last} order by ${seq} limit ${pageSize}
      ), named as (
        select id, turn_id from page where strpos(content, ${personId}) > 0 and content ~ ${word}
      )
      select (select count(*)::int from page) as read, (select coalesce(max(seq), 0) from page) as last,
        (select coalesce(json_agg(distinct turn_id) filter (where turn_id is not null), '[]') from named) as turns,
        (select coalesce(json_agg(id) filter (where turn_id is null), '[]') from named) as ids`);
    if (!row) break;
    found.turnIds.push(...row.turns);
    found.messageIds.push(...row.ids);
    page = row;
  }
  return found;
}

interface Affected {
  person: ErasedPerson;
  agent: ErasedAgent;
  id: string;
  found: Found;
}

/** Returns the refs of the conversations whose events are to be deleted; none for a group under legal hold. */
async function eraseIn(tx: Db, services: Services, { person, agent, id, found }: Affected): Promise<string[]> {
  await lockTurns(tx, id);
  const [conversation] = await tx.select().from(conversations).where(eq(conversations.id, id)).for("update");
  if (conversation?.legalHold) person.held.add(id);
  if (!conversation || conversation.legalHold) return [];
  const { turnIds, messageIds } = found;
  const ofTurns = or(isOneOf(messages.turnId, turnIds, "uuid"), isOneOf(messages.id, messageIds, "uuid"));
  const gone = await tx
    .delete(messages)
    .where(and(eq(messages.conversationId, id), ofTurns))
    .returning({ id: messages.id });
  const ids = gone.map((message) => message.id);
  const attached = sql`${eq(files.conversationId, id)} and ${isOneOf(files.messageId, ids, "uuid")}`;
  await deleteFilesWhere(tx, services.cipher, agent.id, attached);
  await eraseTurnsIn(tx, id, turnIds);
  await tx.delete(memories).where(eq(memories.sourceConversationId, id));
  const { state, metadata, messageCount, awaiting } = conversations;
  const isNamed = sql`strpos(${state}::text, ${person.id}) > 0`;
  await tx
    .update(conversations)
    .set({
      title: null,
      summary: null,
      titleDueAt: null,
      followUpDueAt: null,
      messageCount: sql`greatest(${messageCount} - ${ids.length}, 0)`,
      metadata: sql`${metadata} - 'summarizedMessages'`,
      state: sql`case when ${isNamed} then '{}' else ${state} end`,
      awaiting: sql`case when ${isOneOf(awaiting, turnIds, "uuid")} then null else ${awaiting} end`,
    })
    .where(eq(conversations.id, id));
  // What the agent told others in the group's name.
  const asked = await tx.select({ id: conversations.id }).from(conversations).where(eq(conversations.parentId, id));
  for (const child of asked) await eraseWhole(tx, services, person, agent, child.id);
  return [conversation.ref];
}

/** Removes the content of the turns. The debug data of the others contains the group's history, too. */
async function eraseTurnsIn(tx: Db, conversationId: string, turnIds: readonly string[]): Promise<void> {
  const isAffected = isOneOf(turns.id, turnIds, "uuid");
  await tx
    .update(turns)
    .set({
      debug: null,
      suspended: sql`case when ${isAffected} then null else ${turns.suspended} end`,
      status: sql`case when ${isAffected} and ${turns.status} = 'approval' then 'done' else ${turns.status} end`,
    })
    .where(and(eq(turns.conversationId, conversationId), or(isAffected, sql`${turns.debug} is not null`)));
  const status = sql`case when ${toolCalls.status} = 'pending' then 'expired' else ${toolCalls.status} end`;
  await tx
    .update(toolCalls)
    .set({ args: null, reason: null, status })
    .where(isOneOf(toolCalls.turnId, turnIds, "uuid"));
  const ofTurns = isOneOf(hookExecutions.turnId, turnIds, "uuid");
  await tx.delete(hookExecutions).where(and(eq(hookExecutions.conversationId, conversationId), ofTurns));
  await tx.delete(outbox).where(isOneOf(outbox.turnId, turnIds, "uuid"));
  await tx.delete(streamChunks).where(isOneOf(streamChunks.turnId, turnIds, "uuid"));
}
