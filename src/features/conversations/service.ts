import { eq, sql } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import { requirePermission } from "../../context/membership.ts";
import { write } from "../../context/write.ts";
import { type Changes, changesBetween } from "../../core/changes.ts";
import { requireFeature } from "../../core/edition.ts";
import { EngineError, notFound } from "../../core/errors.ts";
import { conversations } from "../../db/schema.ts";
import { invalid } from "../../http/errors.ts";
import { type ConversationRow, findConversation, toConversation } from "./find.ts";
import { lockTurns, removeConversation } from "./remove.ts";
import { type Conversation, type ConversationChange, NewTitle } from "./schema.ts";

/** A reachable conversation. Throws the 404. */
export async function getConversation(ctx: Ctx, ref: string): Promise<Conversation> {
  return toConversation(await findConversation(ctx, ref), ctx.options.edition);
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
 * Changes the title or the legal hold. The conversation keeps its position in the list, which depends on its last
 * message. The audit log does not contain titles: they come from end users' texts, and are deleted with the
 * conversation. Throws the 404, and the 403 of a caller who may not change the hold.
 */
export async function changeConversation(ctx: Ctx, ref: string, given: ConversationChange): Promise<Conversation> {
  const wanted = changesIn(ctx, given);
  const found = await findConversation(ctx, ref);
  const change = changeOf(found);
  const summary: Record<string, unknown> & { replaced: string[]; changes?: Changes } = {
    ...change.summary,
    replaced: [],
  };
  const unchanged = () => summary.replaced.length === 0 && summary.changes === undefined;
  await write(ctx, { ...change, action: "conversation.update", summary, unchanged }, async (tx) => {
    const own = eq(conversations.id, found.conversation.id);
    const [before] = await tx
      .select({ title: conversations.title, legalHold: conversations.legalHold })
      .from(conversations)
      .where(own)
      .for("no key update");
    if (!before) throw notFound("Conversation");
    const { title, ...shown } = changesBetween(before, wanted);
    summary.replaced = title ? ["title"] : [];
    if (Object.keys(shown).length > 0) summary.changes = shown;
    await tx.update(conversations).set(wanted).where(own);
  });
  return toConversation({ ...found, conversation: { ...found.conversation, ...wanted } }, ctx.options.edition);
}

/** The fields that the caller may change: the title, and in the managed edition the legal hold. */
function changesIn({ options: { edition }, membership }: Ctx, { title, legalHold }: ConversationChange) {
  const titled = title === undefined ? {} : { title };
  if (legalHold === undefined || !edition.managed) {
    if (title === undefined) throw invalid(NewTitle.safeParse({}).error?.issues ?? []);
    return titled;
  }
  requireFeature(edition, "administration");
  requirePermission(membership, "org:write");
  return { ...titled, legalHold };
}

/** Deletes a conversation (`removeConversation`). Throws the 404, and the 409 of one under legal hold. */
export async function deleteConversation(ctx: Ctx, ref: string): Promise<void> {
  const found = await findConversation(ctx, ref);
  const { id, agentId } = found.conversation;
  await write(ctx, { ...changeOf(found), action: "conversation.delete" }, async (tx) => {
    // Locks the turns, then their conversation, as the statement that records a turn does.
    await lockTurns(tx, id);
    const [locked] = await tx
      .select({ legalHold: conversations.legalHold })
      .from(conversations)
      .where(eq(conversations.id, id))
      .for("update");
    if (!locked) throw notFound("Conversation");
    // In the open edition too: a hold outlives the managed one.
    if (locked.legalHold) throw new EngineError("conflict", "The conversation is under legal hold");
    await removeConversation(tx, ctx, { ...found, slug: found.agent.slug, reason: "conversation deleted", by: ctx });
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
