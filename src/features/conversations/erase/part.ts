import { and, eq, or, sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import type { ActingConversation } from "../../../core/activity/activity.ts";
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
import { type ErasedPerson, isOneOf, subjectsOf } from "../../../jobs/erased-rows.ts";
import { deleteFilesWhere } from "../../files/index.ts";
import { lockTurns } from "../remove.ts";
import { eraseWhole } from "./own.ts";

/** Messages of a conversation: those of some turns, and some that belong to no turn. */
export interface Found {
  turnIds: string[];
  messageIds: string[];
}

/** The most turns of one transaction. */
const batchSize = 500;

/** Deletes messages of a conversation, with what else their turns left. */
export async function erasePart(
  services: Services,
  person: ErasedPerson,
  id: string,
  { turnIds, messageIds }: Found,
): Promise<void> {
  for (let start = 0; start < Math.max(turnIds.length, messageIds.length); start += batchSize) {
    person.signal.throwIfAborted();
    const [some, others] = [turnIds, messageIds].map((ids) => ids.slice(start, start + batchSize));
    const found = { turnIds: some ?? [], messageIds: others ?? [] };
    const affected = await unlessDeadlocked(() =>
      services.database.transaction((tx) => eraseIn(tx, services, { person, id, found })),
    );
    for (const conversation of affected) services.activity.forget(conversation);
  }
}

interface Affected {
  person: ErasedPerson;
  id: string;
  found: Found;
}

/** Returns the conversations whose events are to be deleted; none for one under legal hold. */
async function eraseIn(tx: Db, services: Services, { person, id, found }: Affected): Promise<ActingConversation[]> {
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
  await deleteFilesWhere(tx, services.cipher, conversation.agentId, attached);
  await eraseTurnsIn(tx, person, id, turnIds);
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
  // The conversations in which the agent asked others about it.
  const asked = await tx.select({ id: conversations.id }).from(conversations).where(eq(conversations.parentId, id));
  const affected: ActingConversation[] = [{ agentId: conversation.agentId, ref: conversation.ref }];
  for (const child of asked) affected.push(...(await eraseWhole(tx, services, person, child.id)));
  return affected;
}

/** Removes the content of the turns. The debug data of the others contains the group's history, too. */
async function eraseTurnsIn(
  tx: Db,
  person: ErasedPerson,
  conversationId: string,
  turnIds: readonly string[],
): Promise<void> {
  const subjects = person.agents.flatMap((agent) => subjectsOf(person, agent));
  const isAffected = isOneOf(turns.id, turnIds, "uuid");
  await tx
    .update(turns)
    .set({
      debug: null,
      subject: sql`case when ${isOneOf(turns.subject, subjects)} then '' else ${turns.subject} end`,
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
