import { and, asc, desc, eq, type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import { writeArray } from "../../db/arrays.ts";
import { files, hookExecutions, messages } from "../../db/schema.ts";
import { countFitting } from "../../http/paging.ts";
import { fileAddress } from "../files/index.ts";
import { type ConversationRow, findConversation } from "./find.ts";
import type {
  Attachment,
  HookExecution,
  HookExecutions,
  HookQuery,
  Message,
  MessagePage,
  MessageQuery,
  Step,
} from "./schema.ts";

/** A page of messages; fewer when they are long, since results of tools may have megabytes. Throws the 404. */
export async function listMessages(ctx: Ctx, ref: string, query: MessageQuery): Promise<MessagePage> {
  const { limit: asked = 50, offset = 0, order = "asc" } = query;
  const found = await findConversation(ctx, ref);
  const { conversation } = found;
  const bySeq = order === "asc" ? asc(messages.seq) : desc(messages.seq);
  const { content, steps, reasoning } = messages;
  const bytes = sql<number>`octet_length(concat(${content}, ${steps}::text, ${reasoning}))`;
  const sizes = await ctx.db
    .select({ bytes })
    .from(messages)
    .where(eq(messages.conversationId, conversation.id))
    .orderBy(bySeq)
    .limit(asked)
    .offset(offset);
  const fitting = countFitting(sizes.map((row) => row.bytes));
  const limit = fitting < sizes.length ? fitting : asked;
  const page = selectMessages(ctx, found).orderBy(bySeq).limit(limit).offset(offset);
  const shown = await withAttachments(ctx, found, await page);
  return { messages: shown, total: conversation.messageCount, limit, offset, order };
}

/** The messages that a turn of the conversation stored, in order. */
export async function messagesOfTurn(ctx: Ctx, found: ConversationRow, turnId: string): Promise<Message[]> {
  const rows = await selectMessages(ctx, found, eq(messages.turnId, turnId)).orderBy(asc(messages.seq));
  return withAttachments(ctx, found, rows);
}

/** Selects messages. While the agent's `debugEnabled` is off, older messages come without debug data. */
function selectMessages({ db }: Ctx, { conversation, agent }: ConversationRow, wanted?: SQL) {
  const { id, role, content, steps, reasoning, metadata, promptTokens, completionTokens, createdAt } = messages;
  const columns = { id, role, content, steps, reasoning, promptTokens, completionTokens, createdAt };
  const plain = sql<Message["metadata"]>`${metadata} - 'debug'`.mapWith(metadata).as("plain");
  return db
    .select({ ...columns, metadata: agent.debugEnabled ? metadata : plain })
    .from(messages)
    .where(and(eq(messages.conversationId, conversation.id), wanted));
}

async function withAttachments(
  ctx: Ctx,
  found: ConversationRow,
  rows: Awaited<ReturnType<typeof selectMessages>>,
): Promise<Message[]> {
  const attachments = await findAttachments(
    ctx,
    found,
    rows.map(({ id }) => id),
  );
  return rows.map(({ createdAt, steps, ...row }) => ({
    ...row,
    steps: steps as Step[],
    attachments: attachments.get(row.id) ?? [],
    createdAt: createdAt.toISOString(),
  }));
}

/** The stored files of messages, by message id. */
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

/**
 * The executions of hooks in order: the newest ones, or older ones with `offset`; fewer when their results are long.
 * Throws the 404.
 */
export async function listHookExecutions(ctx: Ctx, ref: string, query: HookQuery): Promise<HookExecutions> {
  const { limit = 200, offset = 0 } = query;
  const found = await findConversation(ctx, ref);
  const sizes = await ctx.db
    .select({ bytes: sql<number>`octet_length(${hookExecutions}::text)` })
    .from(hookExecutions)
    .where(eq(hookExecutions.conversationId, found.conversation.id))
    .orderBy(...newestExecutions)
    .limit(limit)
    .offset(offset);
  const rows = await selectHookExecutions(ctx, found)
    .limit(countFitting(sizes.map(({ bytes }) => bytes)))
    .offset(offset);
  return { executions: rows.toReversed().map(toExecution) };
}

/** The hook executions of one turn of the conversation, in order. */
export async function hookExecutionsOfTurn(ctx: Ctx, found: ConversationRow, turnId: string): Promise<HookExecution[]> {
  const rows = await selectHookExecutions(ctx, found, eq(hookExecutions.turnId, turnId));
  return rows.toReversed().map(toExecution);
}

const newestExecutions = [desc(hookExecutions.createdAt), desc(hookExecutions.turnId), desc(hookExecutions.position)];

/** Selects hook executions, newest first. */
function selectHookExecutions({ db }: Ctx, { conversation }: ConversationRow, wanted?: SQL) {
  const { id, hookId, event, toolName, success, error, durationMs, args, result, createdAt } = hookExecutions;
  return db
    .select({ id, hookId, event, toolName, success, error, durationMs, args, result, createdAt })
    .from(hookExecutions)
    .where(and(eq(hookExecutions.conversationId, conversation.id), wanted))
    .orderBy(...newestExecutions);
}

function toExecution(row: Awaited<ReturnType<typeof selectHookExecutions>>[number]): HookExecution {
  return { ...row, createdAt: row.createdAt.toISOString() };
}
