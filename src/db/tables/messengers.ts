import { sql } from "drizzle-orm";
import { boolean, index, integer, pgTable, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import type { Incoming } from "../../core/channels/messengers.ts";
import { ofAgent } from "./agents.ts";
import { createdAt, id, jsonb, moment, oneOf } from "./columns.ts";
import { conversations } from "./conversations.ts";

/** Incoming messages of messengers. A row is stored before its message is acknowledged (decisions §8). */
export const inbox = pgTable(
  "inbox",
  {
    id: id(),
    agentId: ofAgent(),
    channel: text("channel").notNull(),
    /** The messenger's own id of the message, which a redelivery repeats. */
    providerId: text("provider_id").notNull(),
    conversationId: uuid("conversation_id")
      .notNull()
      .references(() => conversations.id, { onDelete: "cascade" }),
    /** The order of arrival within the conversation; the newest is `conversations.last_inbox_seq`. */
    seq: integer("seq").notNull(),
    /** The messenger's id of the sender. */
    sender: text("sender").notNull(),
    payload: jsonb("payload").notNull(),
    status: text("status").notNull().default("pending"),
    /** How often newer messages superseded a turn that answered the message. */
    restarts: integer("restarts").notNull().default(0),
    /** The number of attempts to answer the message: the failed turns, and the last one, which answered it or gave up. */
    attempts: integer("attempts").notNull().default(0),
    /** Why the agent gave the message up, without secrets. */
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

/** Parts of replies to be sent. */
export const outbox = pgTable(
  "outbox",
  {
    id: id(),
    agentId: ofAgent(),
    conversationId: uuid("conversation_id").references(() => conversations.id, { onDelete: "cascade" }),
    channel: text("channel").notNull(),
    /** The messenger's target, such as a chat id or a phone number. */
    target: text("target").notNull(),
    turnId: uuid("turn_id"),
    /** The position of the part in its turn's reply, from 0. */
    part: integer("part").notNull().default(0),
    body: text("body").notNull(),
    /** `sending` is stored before the messenger is called: a part that a dead process left so may have been sent. */
    status: text("status").notNull().default("pending"),
    /** Whether the part was sent again although the first try may have delivered it. */
    mayBeRepeated: boolean("may_be_repeated").notNull().default(false),
    attempts: integer("attempts").notNull().default(0),
    /** The part is not tried before this moment. */
    retryAt: moment("retry_at"),
    providerMessageId: text("provider_message_id"),
    /** Why the part was not sent, without secrets. */
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
 * Albums of groups, whose parts arrive one by one. Parts that do not address the agent wait here for a part that does,
 * and are deleted after an hour.
 */
export const albums = pgTable(
  "albums",
  {
    agentId: ofAgent(),
    channel: text("channel").notNull(),
    /** The messenger's own id of the album. */
    albumId: text("album_id").notNull(),
    /** Whether any part addressed the agent, which makes all parts count. */
    isMeant: boolean("is_meant").notNull(),
    parts: jsonb("parts").$type<Incoming[]>().notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.agentId, table.channel, table.albumId] }),
    index("albums_age").on(table.createdAt),
  ],
);

/** Chats whose id changed. Conversations, targets and waiting work keep the former id (decisions §8). */
export const movedChats = pgTable(
  "moved_chats",
  {
    agentId: ofAgent(),
    channel: text("channel").notNull(),
    /** The id that this installation uses. */
    chatId: text("chat_id").notNull(),
    /** The id that the messenger uses now. */
    movedTo: text("moved_to").notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.agentId, table.channel, table.chatId] }),
    index("moved_chats_to").on(table.agentId, table.channel, table.movedTo),
  ],
);

/** People who opted out of an agent by keyword and have not resumed (decisions §8). */
export const optOuts = pgTable(
  "opt_outs",
  {
    agentId: ofAgent(),
    channel: text("channel").notNull(),
    sender: text("sender").notNull(),
    /** The private chat with the person, in whose threads the agent sends nothing; null in groups. */
    channelId: text("channel_id"),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.agentId, table.channel, table.sender] }),
    index("opt_outs_channel").on(table.agentId, table.channel, table.channelId),
  ],
);
