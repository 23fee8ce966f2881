import { type Column, inArray, type SQL, sql } from "drizzle-orm";
import {
  type AnyPgColumn,
  bigint,
  boolean,
  date,
  index,
  integer,
  pgTable,
  primaryKey,
  real,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import type { SubjectKey } from "../../core/channels/subjects.ts";
import { agents, ofAgent } from "./agents.ts";
import { createdAt, id, jsonb, moment, oneOf, organizationId, tsvector, updatedAt } from "./columns.ts";

// Every turn writes these tables. They have no checks, since PostgreSQL would parse those again for each statement: the
// columns' types describe the values.

/** The source of a turn (decisions §5, "conversations"). */
type TurnSource = "user" | "webhook" | "room" | "scheduled";

export type TurnStatus = "queued" | "running" | "done" | "approval" | "failed" | "aborted" | "lost";

export const conversations = pgTable(
  "conversations",
  {
    id: id(),
    agentId: ofAgent(),
    organizationId: organizationId(),
    /** The public conversation id, such as `<slug>:web:api-<chat_id>`. */
    ref: text("ref").notNull().unique(),
    channel: text("channel").notNull(),
    channelId: text("channel_id").notNull(),
    source: text("source").$type<TurnSource>().notNull().default("user"),
    parentId: uuid("parent_id").references((): AnyPgColumn => conversations.id, { onDelete: "set null" }),
    subject: text("subject").$type<SubjectKey>().notNull(),
    title: text("title"),
    summary: text("summary"),
    state: jsonb("state").$type<Record<string, unknown>>().notNull().default({}),
    metadata: jsonb("metadata").$type<Record<string, unknown>>().notNull().default({}),
    /** Running and queued turns. */
    openTurns: integer("open_turns").notNull().default(0),
    /** The newest turn's ticket: turns take tickets in the order of their arrival. */
    lastTicket: integer("last_ticket").notNull().default(0),
    /** The turn that waits for approval; null again after the decision or after a next message. */
    awaiting: uuid("awaiting"),
    lastSeq: integer("last_seq").notNull().default(0),
    lastInboxSeq: integer("last_inbox_seq").notNull().default(0),
    messageCount: integer("message_count").notNull().default(0),
    totalTokens: bigint("total_tokens", { mode: "number" }).notNull().default(0),
    /** The tokens of the last turn's first prompt, as counted by the provider, and its bytes per token. */
    contextTokens: integer("context_tokens").notNull().default(0),
    bytesPerToken: real("bytes_per_token"),
    /** When a model should write the title and learn from the messages; null once done, or for never. */
    titleDueAt: moment("title_due_at"),
    /** When the conversation has rested long enough to be summarized and learned from; null once done. */
    followUpDueAt: moment("follow_up_due_at"),
    /** Whether the conversation is exempt from deletion. */
    legalHold: boolean("legal_hold").notNull().default(false),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    index("conversations_title_due")
      .on(table.agentId, table.titleDueAt, table.id)
      .where(sql`${table.titleDueAt} is not null`),
    index("conversations_follow_up_due")
      .on(table.agentId, table.followUpDueAt, table.id)
      .where(sql`${table.followUpDueAt} is not null`),
    index("conversations_slack_person")
      .on(table.agentId, table.subject, table.updatedAt)
      .where(sql`${table.channel} = 'slack'`),
    index("conversations_parent").on(table.parentId).where(sql`${table.parentId} is not null`),
    index("conversations_of_agent").on(table.agentId, table.id),
    index("conversations_agent").on(table.agentId, table.updatedAt).where(sql`${table.messageCount} > 0`),
    index("conversations_organization").on(table.organizationId, table.updatedAt).where(sql`${table.messageCount} > 0`),
  ],
);

/**
 * A row for each turn from any door (chat, messenger, Room, task, agent), without its content, except for an agent
 * under debugging. The id is also the id of the assistant's message.
 */
export const turns = pgTable(
  "turns",
  {
    id: uuid("id").primaryKey(),
    agentId: ofAgent(),
    organizationId: organizationId(),
    /**
     * Null when only this row of the turn is stored. There is no foreign key, which would look up the conversation for
     * every turn: the statement that inserts a turn has just locked the conversation by a write, and a deletion needs
     * that lock.
     */
    conversationId: uuid("conversation_id"),
    subject: text("subject").$type<SubjectKey>().notNull(),
    ticket: integer("ticket").notNull().default(1),
    status: text("status").$type<TurnStatus>().notNull(),
    /** The process that runs or queues the turn; it counts as dead after `leaseUntil`. */
    owner: uuid("owner").notNull(),
    leaseUntil: moment("lease_until").notNull(),
    stopRequested: boolean("stop_requested").notNull().default(false),
    restarts: integer("restarts").notNull().default(0),
    /** The turn that waited for approval and that this one continues. */
    continues: uuid("continues"),
    /** The model's messages of a turn that waits for approval, verbatim. */
    suspended: jsonb("suspended").$type<unknown[]>(),
    door: text("door").notNull(),
    /** The channel of the turn's origin, which outlives the conversation. */
    channel: text("channel").notNull().default("web"),
    source: text("source").$type<TurnSource>().notNull().default("user"),
    provider: text("provider"),
    model: text("model"),
    /** The SHA-256 of the prompt, the tools and the skill versions. */
    fingerprint: text("fingerprint"),
    idempotencyKey: text("idempotency_key"),
    requestDigest: text("request_digest"),
    promptTokens: integer("prompt_tokens").notNull().default(0),
    completionTokens: integer("completion_tokens").notNull().default(0),
    /** The number of messages that the turn stored. */
    messageCount: integer("message_count").notNull().default(0),
    /** Tokens that the agent's budget of `budgetMonth` reserves for the turn until it ends. */
    reserved: integer("reserved").notNull().default(0),
    /** Tokens that the end user's budget reserves, in the same month. */
    userReserved: integer("user_reserved").notNull().default(0),
    budgetMonth: date("budget_month"),
    /** In millionths of the currency unit; null while unknown. */
    costMicros: bigint("cost_micros", { mode: "number" }),
    /** The same two reservations in millionths of the currency unit. */
    costReserved: bigint("cost_reserved", { mode: "number" }).notNull().default(0),
    userCostReserved: bigint("user_cost_reserved", { mode: "number" }).notNull().default(0),
    ttftMs: integer("ttft_ms"),
    durationMs: integer("duration_ms"),
    errorCode: text("error_code"),
    requestId: text("request_id"),
    /** The debugging details of the turn; null unless the agent's `debugEnabled` was on. */
    debug: jsonb("debug").$type<Record<string, unknown>>(),
    createdAt: createdAt(),
    finishedAt: moment("finished_at"),
  },
  (table) => [
    uniqueIndex("turns_ticket").on(table.conversationId, table.ticket).where(sql`${table.conversationId} is not null`),
    uniqueIndex("turns_idempotency_key")
      .on(table.conversationId, table.idempotencyKey)
      .where(sql`${table.idempotencyKey} is not null`),
    uniqueIndex("turns_continues").on(table.continues).where(sql`${table.continues} is not null`),
    index("turns_open").on(table.leaseUntil).where(sql`${table.status} in ('queued', 'running')`),
    index("turns_approval").on(table.finishedAt).where(sql`${table.status} = 'approval'`),
    index("turns_lost_decided")
      .on(table.createdAt)
      .where(sql`${table.status} = 'lost' and ${table.continues} is not null`),
    index("turns_agent").on(table.agentId, table.createdAt),
  ],
);

/** Whether a turn is running or queued. */
export const isOpen = ({ status }: { status: Column }): SQL => inArray(status, ["queued", "running"]);

export const messages = pgTable(
  "messages",
  {
    id: id(),
    /** Without a foreign key, like `turns.conversationId`. */
    conversationId: uuid("conversation_id").notNull(),
    turnId: uuid("turn_id"),
    seq: integer("seq").notNull(),
    role: text("role").$type<"user" | "assistant">().notNull(),
    content: text("content").notNull(),
    reasoning: text("reasoning"),
    /** The steps as callers see them. */
    steps: jsonb("steps").$type<unknown[]>().notNull().default([]),
    /** The provider's own messages, verbatim; later turns send them to the model again. */
    modelMessages: jsonb("model_messages").$type<unknown[]>(),
    metadata: jsonb("metadata").$type<Record<string, unknown>>().notNull().default({}),
    status: text("status").notNull().default("complete"),
    feedback: jsonb("feedback").$type<Record<string, unknown>>(),
    promptTokens: integer("prompt_tokens").notNull().default(0),
    completionTokens: integer("completion_tokens").notNull().default(0),
    /**
     * The words of the content. The application extracts them, since PostgreSQL's parser takes minutes for some texts.
     * A server of an earlier release leaves the default, a word of no text; upkeep finds such rows and indexes them.
     */
    search: tsvector("search").default(sql`array_to_tsvector(array[' '])`),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex("messages_seq").on(table.conversationId, table.seq),
    index("messages_search").using("gin", table.search),
  ],
);

/** Tool calls, without results. Calls that wait for approval have their arguments. */
export const toolCalls = pgTable(
  "tool_calls",
  {
    id: id(),
    turnId: uuid("turn_id")
      .notNull()
      .references(() => turns.id, { onDelete: "cascade" }),
    agentId: ofAgent(),
    /** The model's id of the call. */
    toolCallId: text("tool_call_id").notNull(),
    /** The canonical name of the tool. */
    name: text("name").notNull(),
    /** The arguments of a call that needs or needed approval. */
    args: jsonb("args"),
    status: text("status").notNull(),
    decidedBy: uuid("decided_by"),
    reason: text("reason"),
    expiresAt: moment("expires_at"),
    durationMs: integer("duration_ms"),
    createdAt: createdAt(),
  },
  (table) => [
    oneOf("tool_calls_status", table.status, ["executed", "failed", "pending", "approved", "refused", "expired"]),
    uniqueIndex("tool_calls_turn_call").on(table.turnId, table.toolCallId),
    index("tool_calls_agent").on(table.agentId, table.createdAt),
    index("tool_calls_pending").on(table.expiresAt).where(sql`${table.status} = 'pending'`),
  ],
);

/** Executions of hooks in stored turns. */
export const hookExecutions = pgTable(
  "hook_executions",
  {
    id: id(),
    conversationId: uuid("conversation_id")
      .notNull()
      .references(() => conversations.id, { onDelete: "cascade" }),
    turnId: uuid("turn_id").notNull(),
    /** Without a foreign key: the hook may be deleted. */
    hookId: uuid("hook_id").notNull(),
    /** The position of this execution within the turn. */
    position: integer("position").notNull(),
    event: text("event").notNull(),
    toolName: text("tool_name").notNull(),
    success: boolean("success").notNull(),
    error: text("error"),
    durationMs: integer("duration_ms").notNull(),
    args: jsonb("args"),
    result: jsonb("result"),
    createdAt: createdAt(),
  },
  (table) => [index("hook_executions_conversation").on(table.conversationId, table.createdAt)],
);

/**
 * The sent events of streams that a client requested from another replica. UNLOGGED: useless once the process that
 * writes them crashed.
 */
export const streamChunks = pgTable(
  "stream_chunks",
  {
    turnId: uuid("turn_id").notNull(),
    /** The number of the first event in this chunk. */
    first: integer("first").notNull(),
    events: text("events").notNull(),
    createdAt: createdAt(),
  },
  (table) => [primaryKey({ columns: [table.turnId, table.first] }), index("stream_chunks_age").on(table.createdAt)],
);

/** Files of conversations. A row outlives its agent and conversation until the file's bytes are deleted. */
export const files = pgTable(
  "files",
  {
    id: id(),
    organizationId: organizationId(),
    agentId: uuid("agent_id").references(() => agents.id, { onDelete: "set null" }),
    conversationId: uuid("conversation_id").references(() => conversations.id, { onDelete: "set null" }),
    messageId: uuid("message_id"),
    name: text("name").notNull(),
    mime: text("mime").notNull(),
    size: bigint("size", { mode: "number" }).notNull(),
    /** In hexadecimal. */
    sha256: text("sha256").notNull(),
    store: text("store").notNull(),
    storageKey: text("storage_key").notNull().unique(),
    status: text("status").notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    oneOf("files_store", table.store, ["s3", "directory"]),
    oneOf("files_status", table.status, ["pending", "stored", "deleting"]),
    index("files_conversation").on(table.conversationId, table.createdAt),
    index("files_agent").on(table.agentId),
    index("files_unsettled").on(table.createdAt).where(sql`${table.status} <> 'stored'`),
  ],
);
