import { and, eq, sql } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import { write } from "../../context/write.ts";
import { changesBetween } from "../../core/changes.ts";
import { subjectKey } from "../../core/channels/subjects.ts";
import { notFound } from "../../core/errors.ts";
import type { Db } from "../../db/client.ts";
import { assign } from "../../db/fragments.ts";
import { conversations, messages, streamChunks, taskRuns, toolCalls, turns } from "../../db/schema.ts";
import { endTasksOf } from "../agents/index.ts";
import { deleteFilesOf } from "../files/index.ts";
import { type ConversationRow, findConversation, toConversation } from "./find.ts";
import type { Conversation, ConversationChange } from "./schema.ts";

/** A reachable conversation. Throws the 404. */
export async function getConversation(ctx: Ctx, ref: string): Promise<Conversation> {
  return toConversation(await findConversation(ctx, ref));
}

/** The conversation's state without `_private` (spec "Conversation, message, memory"). Throws the 404. */
export async function getState(ctx: Ctx, ref: string): Promise<Record<string, unknown>> {
  const { conversation } = await findConversation(ctx, ref);
  const [row] = await ctx.db
    .select({ state: sql`${conversations.state} - '_private'`.mapWith(conversations.state) })
    .from(conversations)
    .where(eq(conversations.id, conversation.id));
  if (!row) throw notFound("Conversation");
  return row.state;
}

/**
 * Changes the title. The conversation keeps its position in the list, which depends on its last message. The audit log
 * does not contain titles: they come from end users' texts, and are deleted with the conversation. Throws the 404.
 */
export async function renameConversation(ctx: Ctx, ref: string, { title }: ConversationChange): Promise<Conversation> {
  const found = await findConversation(ctx, ref);
  const change = changeOf(found);
  const summary = { ...change.summary, replaced: [] as string[] };
  const unchanged = () => summary.replaced.length === 0;
  await write(ctx, { ...change, action: "conversation.update", summary, unchanged }, async (tx) => {
    const own = eq(conversations.id, found.conversation.id);
    const [before] = await tx
      .select({ title: conversations.title })
      .from(conversations)
      .where(own)
      .for("no key update");
    summary.replaced = Object.keys(changesBetween(before ?? {}, { title }));
    const renamed = await tx.update(conversations).set({ title }).where(own).returning({ id: conversations.id });
    if (renamed.length === 0) throw notFound("Conversation");
  });
  return toConversation({ ...found, conversation: { ...found.conversation, title } });
}

/**
 * Deletes a conversation with its messages, state and files, and the copy of its reply in a task run. Its running and
 * queued turns are stopped and not stored. Throws the 404.
 */
export async function deleteConversation(ctx: Ctx, ref: string): Promise<void> {
  const found = await findConversation(ctx, ref);
  const { id, agentId, organizationId, source } = found.conversation;
  await write(ctx, { ...changeOf(found), action: "conversation.delete" }, async (tx) => {
    // Locks the turns, then their conversation, as the statement that records a turn does.
    await lockTurns(tx, id);
    const [locked] = await tx
      .select({ id: conversations.id })
      .from(conversations)
      .where(eq(conversations.id, id))
      .for("update");
    if (!locked) throw notFound("Conversation");
    await detachTurns(tx, id);
    await deleteFilesOf(tx, ctx, { conversationId: id });
    await tx.delete(messages).where(eq(messages.conversationId, id));
    await tx.delete(conversations).where(eq(conversations.id, id));
    // The person is known only by this conversation, whose id is the subject.
    const agent = { id: agentId, slug: found.agent.slug, organizationId };
    const reason = "conversation deleted";
    if (source === "user") await endTasksOf(tx, subjectKey("conversation", ref), { agent, reason, by: ctx });
    if (source !== "scheduled") return;
    const ofRun = and(eq(taskRuns.agentId, agentId), eq(taskRuns.conversationRef, ref));
    await tx.update(taskRuns).set({ output: null }).where(ofRun);
  });
  ctx.activity.forget({ agentId, ref });
}

function changeOf({ conversation, agent }: ConversationRow) {
  return {
    target: agent.slug,
    agentId: conversation.agentId,
    agentUnchanged: true,
    summary: { conversationId: conversation.ref },
  };
}

/** Locks the conversation's turns in the order of lease renewals. */
async function lockTurns(tx: Db, conversationId: string): Promise<void> {
  const own = eq(turns.conversationId, conversationId);
  await tx.select({ id: turns.id }).from(turns).where(own).orderBy(turns.id).for("no key update");
}

/**
 * Removes the conversation and the content from its turns, so that a running turn's end only closes its row. The rows
 * stay for statistics and budgets.
 */
async function detachTurns(tx: Db, conversationId: string): Promise<void> {
  const detached = assign(turns, {
    conversationId: null,
    suspended: null,
    debug: null,
    status: sql`case when ${turns.status} = 'approval' then 'done' else ${turns.status} end`,
    stopRequested: sql`${turns.stopRequested} or ${turns.status} in ('queued', 'running')`,
  });
  const emptied = assign(toolCalls, {
    args: null,
    reason: null,
    status: sql`case when ${toolCalls.status} = 'pending' then 'expired' else ${toolCalls.status} end`,
  });
  await tx.execute(sql`
    with own as (
      -- Includes the turns that came before the conversation was locked.
      select ${turns.id} from ${turns} where ${turns.conversationId} = ${conversationId}
      order by ${turns.id} for no key update
    ), detached as (
      update ${turns} set ${detached} from own where ${turns.id} = own.id returning ${turns.id}
    ), forgotten as (
      -- Other replicas follow the turns by these rows.
      delete from ${streamChunks} using own where ${streamChunks.turnId} = own.id
    )
    update ${toolCalls} set ${emptied} from detached
    where ${toolCalls.turnId} = detached.id and (${toolCalls.args} is not null or ${toolCalls.reason} is not null)`);
}
