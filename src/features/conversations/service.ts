import { eq, sql } from "drizzle-orm";
import { type Ctx, write } from "../../context.ts";
import { notFound } from "../../core/errors.ts";
import type { Db } from "../../db/client.ts";
import { conversations } from "../../db/schema.ts";
import { deleteFilesOf } from "../files/index.ts";
import { type ConversationRow, findConversation, toConversation } from "./find.ts";
import type { Conversation, ConversationChange } from "./schema.ts";

/** Throws the 404. */
export async function getConversation(ctx: Ctx, ref: string): Promise<Conversation> {
  return toConversation(await findConversation(ctx, ref));
}

/** What the conversation knows, without what is kept from everybody (spec "Conversation, message, memory"). Throws the 404. */
export async function getState(ctx: Ctx, ref: string): Promise<Record<string, unknown>> {
  const { conversation } = await findConversation(ctx, ref);
  const [row] = await ctx.db
    .select({ state: sql`${conversations.state} - '_private'`.mapWith(conversations.state) })
    .from(conversations)
    .where(eq(conversations.id, conversation.id));
  if (!row) throw notFound("Conversation");
  return row.state;
}

/** Its place in the list stays: that is told by its last message. Throws the 404. */
export async function renameConversation(ctx: Ctx, ref: string, { title }: ConversationChange): Promise<Conversation> {
  const found = await findConversation(ctx, ref);
  await write(ctx, { ...changeOf(found), action: "conversation.update" }, async (tx) => {
    const renamed = await tx
      .update(conversations)
      .set({ title })
      .where(eq(conversations.id, found.conversation.id))
      .returning({ id: conversations.id });
    if (renamed.length === 0) throw notFound("Conversation");
  });
  return toConversation({ ...found, conversation: { ...found.conversation, title } });
}

/**
 * Deletes a conversation with its messages, its state and its files. Turns of it that run or wait are stopped; what
 * they say is stored nowhere. Throws the 404.
 */
export async function deleteConversation(ctx: Ctx, ref: string): Promise<void> {
  const found = await findConversation(ctx, ref);
  const { id } = found.conversation;
  await write(ctx, { ...changeOf(found), action: "conversation.delete" }, async (tx) => {
    // Turns before their conversation, as the statement that records them takes them, and nothing else before it.
    await lockTurns(tx, id);
    const [locked] = await tx
      .select({ id: conversations.id })
      .from(conversations)
      .where(eq(conversations.id, id))
      .for("update");
    if (!locked) throw notFound("Conversation");
    await releaseTurns(tx, id);
    await deleteFilesOf(tx, ctx.cipher, { conversationId: id });
    await tx.delete(conversations).where(eq(conversations.id, id));
  });
}

function changeOf({ conversation, agent }: ConversationRow) {
  return {
    target: agent.slug,
    agentId: conversation.agentId,
    agentUnchanged: true,
    summary: { conversationId: conversation.ref },
  };
}

/** In order, as leases are renewed. */
async function lockTurns(tx: Db, conversationId: string): Promise<void> {
  await tx.execute(sql`select id from turns where conversation_id = ${conversationId} order by id for no key update`);
}

/**
 * The rows of its turns stay, since numbers and budgets are made of them, without what was said: as turns without a
 * conversation, whose end closes the row and stores nothing else.
 */
async function releaseTurns(tx: Db, conversationId: string): Promise<void> {
  await tx.execute(sql`
    with own as (
      -- With those that came before the conversation was locked.
      select id from turns where conversation_id = ${conversationId} order by id for no key update
    ), released as (
      update turns t set conversation_id = null, suspended = null,
        status = case when t.status = 'approval' then 'done' else t.status end,
        stop_requested = t.stop_requested or t.status in ('queued', 'running')
      from own where t.id = own.id
      returning t.id
    ), forgotten as (
      -- What other replicas follow them by.
      delete from stream_chunks c using own where c.turn_id = own.id
    )
    update tool_calls k set args = null, reason = null,
      status = case when k.status = 'pending' then 'expired' else k.status end
    from released where k.turn_id = released.id and (k.args is not null or k.reason is not null)`);
}
