import { sql } from "drizzle-orm";
import { boolean, index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import type { Incoming } from "../../core/channels/messengers.ts";
import { ofAgent } from "./agents.ts";
import { createdAt, id, moment, oneOf } from "./columns.ts";
import { conversations } from "./conversations.ts";

/** Messages that came in over messengers. A row is stored before its message is acknowledged (decisions §8). */
export const inbox = pgTable(
  "inbox",
  {
    id: id(),
    agentId: ofAgent(),
    channel: text("channel").notNull(),
    /** The messenger's own id of the message: a redelivery has the same. */
    providerId: text("provider_id").notNull(),
    conversationId: uuid("conversation_id")
      .notNull()
      .references(() => conversations.id, { onDelete: "cascade" }),
    /** The order of arrival within the conversation; its last one is `conversations.last_inbox_seq`. */
    seq: integer("seq").notNull(),
    /** The messenger's id of the person who wrote the message. */
    sender: text("sender").notNull(),
    payload: jsonb("payload").notNull(),
    status: text("status").notNull().default("pending"),
    /** How often a turn that answered the message gave way to newer messages. */
    restarts: integer("restarts").notNull().default(0),
    /**
     * How many times an answer was tried: the turns that failed, and the last one, which answered the message or gave
     * up.
     */
    attempts: integer("attempts").notNull().default(0),
    /** Why the message was given up, in words without secrets. */
    error: text("error"),
    /** The turn that answers the message. */
    turnId: uuid("turn_id"),
    createdAt: createdAt(),
  },
  (table) => [
    oneOf("inbox_status", table.status, ["pending", "done", "dropped", "failed"]),
    uniqueIndex("inbox_provider_id").on(table.agentId, table.channel, table.providerId),
    uniqueIndex("inbox_seq").on(table.conversationId, table.seq),
    index("inbox_agent").on(table.agentId, table.createdAt),
    index("inbox_pending").on(table.createdAt).where(sql`${table.status} = 'pending'`),
    index("inbox_age").on(table.createdAt),
  ],
);

/** Parts of replies on their way to people. */
export const outbox = pgTable(
  "outbox",
  {
    id: id(),
    agentId: ofAgent(),
    conversationId: uuid("conversation_id").references(() => conversations.id, { onDelete: "cascade" }),
    channel: text("channel").notNull(),
    /** The messenger's target of the part, such as a chat id or a phone number. */
    target: text("target").notNull(),
    turnId: uuid("turn_id"),
    /** The place of the part in the reply of its turn, from 0. */
    part: integer("part").notNull().default(0),
    body: text("body").notNull(),
    /** `sending` is noted before the messenger is called: what a dead process left so may have been sent. */
    status: text("status").notNull().default("pending"),
    /** Whether the part was sent again although the messenger may have delivered it already. */
    mayBeRepeated: boolean("may_be_repeated").notNull().default(false),
    attempts: integer("attempts").notNull().default(0),
    /** Before this moment the part is not tried again, whatever else is to be sent. */
    retryAt: moment("retry_at"),
    providerMessageId: text("provider_message_id"),
    /** Why the part was not sent, in words without secrets. */
    error: text("error"),
    sentAt: moment("sent_at"),
    createdAt: createdAt(),
  },
  (table) => [
    oneOf("outbox_status", table.status, ["pending", "sending", "sent", "failed"]),
    uniqueIndex("outbox_part").on(table.turnId, table.part).where(sql`${table.turnId} is not null`),
    index("outbox_agent").on(table.agentId, table.createdAt),
    index("outbox_conversation").on(table.conversationId).where(sql`${table.conversationId} is not null`),
    index("outbox_unsent")
      .on(table.agentId, table.channel, table.target)
      .where(sql`${table.status} in ('pending', 'sending')`),
    index("outbox_age").on(table.createdAt),
    index("outbox_provider_message")
      .on(table.agentId, table.providerMessageId)
      .where(sql`${table.providerMessageId} is not null`),
  ],
);

/**
 * Albums of groups, whose parts come one by one: those that are not said to the agent wait here for one that is, and are
 * deleted after an hour.
 */
export const albums = pgTable(
  "albums",
  {
    agentId: ofAgent(),
    channel: text("channel").notNull(),
    /** The messenger's own id of the album. */
    albumId: text("album_id").notNull(),
    /** Whether any part addressed the agent; then all parts do. */
    isMeant: boolean("is_meant").notNull(),
    parts: jsonb("parts").$type<Incoming[]>().notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.agentId, table.channel, table.albumId] }),
    index("albums_age").on(table.createdAt),
  ],
);

/** Chats that have another id now. Conversations, targets and waiting work keep the former one (decisions §8). */
export const movedChats = pgTable(
  "moved_chats",
  {
    agentId: ofAgent(),
    channel: text("channel").notNull(),
    /** The id by which this installation knows the chat. */
    chatId: text("chat_id").notNull(),
    /** The id that the messenger takes now. */
    movedTo: text("moved_to").notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.agentId, table.channel, table.chatId] }),
    index("moved_chats_to").on(table.agentId, table.channel, table.movedTo),
  ],
);

/** People who stopped an agent by keyword, and have not resumed it (decisions §8). */
export const optOuts = pgTable(
  "opt_outs",
  {
    agentId: ofAgent(),
    channel: text("channel").notNull(),
    sender: text("sender").notNull(),
    /** The private chat with the person, in none of whose threads the agent says anything; null in groups. */
    channelId: text("channel_id"),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.agentId, table.channel, table.sender] }),
    index("opt_outs_channel").on(table.agentId, table.channel, table.channelId),
  ],
);
