import { and, asc, desc, eq, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { writeArray } from "../../db/arrays.ts";
import { files, hookExecutions, messages } from "../../db/schema.ts";
import { fileAddress } from "../files/index.ts";
import { type ConversationRow, findConversation } from "./find.ts";
import type { Attachment, HookExecutions, HookQuery, Message, MessagePage, MessageQuery, Step } from "./schema.ts";

/** A page of the messages. Throws the 404. */
export async function listMessages(ctx: Ctx, ref: string, query: MessageQuery): Promise<MessagePage> {
  const { limit = 50, offset = 0, order = "asc" } = query;
  const found = await findConversation(ctx, ref);
  const rows = await selectMessages(ctx, found, { limit, offset, order });
  const attachments = await findAttachments(
    ctx,
    found,
    rows.map(({ id }) => id),
  );
  const shown = rows.map(({ createdAt, steps, ...row }) => ({
    ...row,
    steps: steps as Step[],
    attachments: attachments.get(row.id) ?? [],
    createdAt: createdAt.toISOString(),
  }));
  return { messages: shown, total: found.conversation.messageCount, limit, offset, order };
}

interface Page {
  limit: number;
  offset: number;
  order: "asc" | "desc";
}

/** Leaves debug payloads in the database while the agent's `debugEnabled` is off. */
function selectMessages({ db }: Ctx, { conversation, agent }: ConversationRow, { limit, offset, order }: Page) {
  const { id, role, content, steps, reasoning, metadata, promptTokens, completionTokens, createdAt } = messages;
  const columns = { id, role, content, steps, reasoning, promptTokens, completionTokens, createdAt };
  const plain = sql<Message["metadata"]>`${metadata} - 'debug'`.mapWith(metadata).as("plain");
  return db
    .select({ ...columns, metadata: agent.debugEnabled ? metadata : plain })
    .from(messages)
    .where(eq(messages.conversationId, conversation.id))
    .orderBy(order === "asc" ? asc(messages.seq) : desc(messages.seq))
    .limit(limit)
    .offset(offset);
}

/** The stored files of the messages, by the message's id. */
async function findAttachments(
  { db }: Ctx,
  { conversation }: ConversationRow,
  messageIds: readonly string[],
): Promise<Map<string | null, Attachment[]>> {
  if (messageIds.length === 0) return new Map();
  const rows = await db
    .select({ id: files.id, messageId: files.messageId, name: files.name, mime: files.mime, size: files.size })
    .from(files)
    .where(
      and(
        eq(files.conversationId, conversation.id),
        sql`${files.messageId} = any(${writeArray(messageIds)}::uuid[])`,
        eq(files.status, "stored"),
      ),
    )
    .orderBy(asc(files.createdAt), asc(files.id));
  const grouped = Map.groupBy(rows, ({ messageId }) => messageId);
  return new Map(
    [...grouped].map(([messageId, group]) => [
      messageId,
      group.map(({ id, name, mime, size }) => ({ id, name, mime, size, url: fileAddress(id) })),
    ]),
  );
}

/** The executions of hooks in order: the newest, unless `offset` asks for older ones. Throws the 404. */
export async function listHookExecutions(ctx: Ctx, ref: string, query: HookQuery): Promise<HookExecutions> {
  const { limit = 200, offset = 0 } = query;
  const { conversation } = await findConversation(ctx, ref);
  const { id, hookId, event, toolName, success, error, durationMs, args, result, createdAt } = hookExecutions;
  const rows = await ctx.db
    .select({ id, hookId, event, toolName, success, error, durationMs, args, result, createdAt })
    .from(hookExecutions)
    .where(eq(hookExecutions.conversationId, conversation.id))
    .orderBy(desc(createdAt), desc(hookExecutions.turnId), desc(hookExecutions.position))
    .limit(limit)
    .offset(offset);
  const executions = rows.toReversed().map((row) => ({ ...row, createdAt: row.createdAt.toISOString() }));
  return { executions };
}
