import { and, eq, getTableColumns, type SQL } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import type { Edition } from "../../core/edition.ts";
import { notFound } from "../../core/errors.ts";
import { isStorable } from "../../core/text/text.ts";
import type { Db } from "../../db/client.ts";
import { agents, conversations } from "../../db/schema.ts";
import { withinReach } from "../agents/index.ts";
import type { Conversation } from "./schema.ts";

const { state: _state, metadata: _metadata, ...shown } = getTableColumns(conversations);

/** Conversations, without state and metadata, with their agents' fields for the API form. */
export function selectConversations(db: Db) {
  return db
    .select({ conversation: shown, agent: { slug: agents.slug, name: agents.name, debugEnabled: agents.debugEnabled } })
    .from(conversations)
    .innerJoin(agents, eq(agents.id, conversations.agentId));
}

export type ConversationRow = Awaited<ReturnType<typeof selectConversations>>[number];

/** The conversation with this public id. Throws the same 404 for a missing one and for an unreachable one. */
export async function findConversation(ctx: Ctx, ref: string): Promise<ConversationRow> {
  if (!isStorable(ref)) throw notFound("Conversation");
  const [row] = await selectConversations(ctx.db).where(isReached(ctx, ref));
  if (!row) throw notFound("Conversation");
  return row;
}

/** Whether a conversation is reachable, for queries that join `agents`. */
function isReached(ctx: Ctx, ref: string): SQL | undefined {
  return and(eq(conversations.ref, ref), withinReach(ctx));
}

/** A conversation in its API form. The open edition does not show the legal hold. */
export function toConversation({ conversation, agent }: ConversationRow, { managed }: Edition): Conversation {
  const { id, ref, title, summary, channel, messageCount, totalTokens } = conversation;
  return {
    id,
    conversationId: ref,
    title,
    summary,
    channel,
    source: conversation.source as Conversation["source"],
    instanceId: agent.slug,
    instanceName: agent.name,
    messageCount,
    totalTokens,
    createdAt: conversation.createdAt.toISOString(),
    updatedAt: conversation.updatedAt.toISOString(),
    ...(managed ? { legalHold: conversation.legalHold } : {}),
  };
}
