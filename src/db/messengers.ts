import { sql } from "drizzle-orm";
import { index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { agents } from "./agents.ts";
import { createdAt, id, moment, oneOf } from "./columns.ts";
import { conversations } from "./conversations.ts";

const agentId = () =>
  uuid("agent_id")
    .notNull()
    .references(() => agents.id, { onDelete: "cascade" });

/** Messages that came in over messengers. A row is stored before its message is acknowledged (decisions §8). */
export const inbox = pgTable(
  "inbox",
  {
    id: id(),
    agentId: agentId(),
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
    /** The turn that answers the message. */
    turnId: uuid("turn_id"),
    createdAt: createdAt(),
  },
  (table) => [
    oneOf("inbox_status", table.status, ["pending", "done", "dropped"]),
    uniqueIndex("inbox_provider_id").on(table.agentId, table.channel, table.providerId),
    uniqueIndex("inbox_seq").on(table.conversationId, table.seq),
    index("inbox_pending").on(table.createdAt).where(sql`${table.status} = 'pending'`),
  ],
);

/** Parts of replies on their way to people. */
export const outbox = pgTable(
  "outbox",
  {
    id: id(),
    agentId: agentId(),
    conversationId: uuid("conversation_id").references(() => conversations.id, { onDelete: "set null" }),
    channel: text("channel").notNull(),
    /** Where the messenger delivers the part, such as a chat id or a phone number. */
    target: text("target").notNull(),
    turnId: uuid("turn_id"),
    /** The place of the part in the reply of its turn, from 0. */
    part: integer("part").notNull().default(0),
    body: text("body").notNull(),
    status: text("status").notNull().default("pending"),
    attempts: integer("attempts").notNull().default(0),
    /** The part is not sent earlier. */
    runAt: moment("run_at").notNull().defaultNow(),
    providerMessageId: text("provider_message_id"),
    error: text("error"),
    createdAt: createdAt(),
  },
  (table) => [
    oneOf("outbox_status", table.status, ["pending", "sent", "failed"]),
    uniqueIndex("outbox_part").on(table.turnId, table.part).where(sql`${table.turnId} is not null`),
    index("outbox_agent").on(table.agentId),
    index("outbox_conversation").on(table.conversationId).where(sql`${table.conversationId} is not null`),
    index("outbox_due").on(table.runAt).where(sql`${table.status} = 'pending'`),
  ],
);
