import { sql } from "drizzle-orm";
import { boolean, check, index, integer, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { agents, ofAgent } from "./agents.ts";
import { authorship, bytea, createdAt, id, jsonb, moment, oneOf, organizationId, updatedAt } from "./columns.ts";

/** The destination for results of an agent's own work: two columns, both null for none. */
const outbound = () => ({ outboundChannel: text("outbound_channel"), outboundTarget: text("outbound_target") });

/** The Room of an agent, in which the agent works on its own (decisions §9). */
export const rooms = pgTable(
  "rooms",
  {
    agentId: uuid("agent_id")
      .primaryKey()
      .references(() => agents.id, { onDelete: "cascade" }),
    id: uuid("id").notNull(),
    organizationId: organizationId(),
    enabled: boolean("enabled").notNull().default(true),
    prompt: text("prompt").notNull().default(""),
    ...outbound(),
    /** 0: the Room acts only on events. */
    evalIntervalMinutes: integer("eval_interval_minutes").notNull().default(5),
    /** `room:<slug>:<ms>`, the one conversation of the Room's own turns. */
    conversationRef: text("conversation_ref").notNull(),
    /** The number of `pending` entries of the backlog, stored since only a locked row counts exactly. */
    pendingCount: integer("pending_count").notNull().default(0),
    /** When the Room has work next: ready entries, or a proactive turn. Null for never. */
    dueAt: moment("due_at"),
    lastEvaluatedAt: moment("last_evaluated_at"),
    /** The summary of the conversation's messages up to `compactedSeq`. */
    historySummary: text("history_summary").notNull().default(""),
    compactedSeq: integer("compacted_seq").notNull().default(0),
    ...authorship(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    check("rooms_pending_count", sql`${table.pendingCount} >= 0`),
    uniqueIndex("rooms_conversation").on(table.conversationRef),
    index("rooms_due").on(table.dueAt).where(sql`${table.enabled} and ${table.dueAt} is not null`),
  ],
);

/** Senders of events. The AAD of the sealed credentials is `<id>:event-source`. */
export const eventSources = pgTable(
  "event_sources",
  {
    id: id(),
    agentId: ofAgent(),
    organizationId: organizationId(),
    name: text("name").notNull(),
    sourceType: text("source_type").notNull(),
    config: jsonb("config").$type<Record<string, unknown>>().notNull().default({}),
    enabled: boolean("enabled").notNull().default(true),
    /** The SHA-256 of the webhook's token, in hexadecimal. */
    tokenDigest: text("token_digest").notNull().unique(),
    keyId: text("key_id").notNull(),
    /** Sealed JSON: `webhookToken`, and `authKey` where the source has one. */
    credentials: bytea("credentials").notNull(),
    hasAuthKey: boolean("has_auth_key").notNull().default(false),
    ...authorship(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [index("event_sources_agent").on(table.agentId, table.createdAt)],
);

/** The kinds of a source's events that the agent handles, and how. */
export const eventDefinitions = pgTable(
  "event_definitions",
  {
    id: id(),
    sourceId: uuid("source_id")
      .notNull()
      .references(() => eventSources.id, { onDelete: "cascade" }),
    agentId: ofAgent(),
    name: text("name").notNull(),
    matchingPrompt: text("matching_prompt").notNull(),
    action: text("action").$type<"conversation" | "backlog">().notNull(),
    interpretationPrompt: text("interpretation_prompt").notNull().default(""),
    contextPrompt: text("context_prompt").notNull().default(""),
    /** The matcher asks about definitions in this order, then in the order of creation. */
    priority: integer("priority").notNull(),
    conditions: jsonb("conditions").$type<unknown[]>().notNull().default([]),
    ...outbound(),
    enabled: boolean("enabled").notNull().default(true),
    ...authorship(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    oneOf("event_definitions_action", table.action, ["conversation", "backlog"]),
    index("event_definitions_order").on(table.sourceId, table.priority, table.createdAt),
    index("event_definitions_agent").on(table.agentId),
  ],
);

export const eventOutcomes = [
  ...["pending", "conversation", "backlog", "no-match", "backlog-full", "room-off"],
  ...["source-disabled", "invalid-payload", "matcher-failed"],
] as const;

/** The ledger: each webhook with a known token, the matcher's questions and answers, and the outcome. */
export const roomEvents = pgTable(
  "room_events",
  {
    id: id(),
    agentId: ofAgent(),
    organizationId: organizationId(),
    sourceId: uuid("source_id").references(() => eventSources.id, { onDelete: "set null" }),
    receivedAt: moment("received_at").notNull(),
    /** The event's JSON, or the text of an unreadable body; null when the body was too large. */
    payload: jsonb("payload"),
    /** In the order in which the matcher asked. */
    verdicts: jsonb("verdicts").$type<unknown[]>().notNull().default([]),
    outcome: text("outcome").$type<(typeof eventOutcomes)[number]>().notNull().default("pending"),
    /** Why the event had no effect, without secrets. */
    reason: text("reason"),
    /** How often the matcher's model failed. */
    attempts: integer("attempts").notNull().default(0),
    /** The definition that matched. There is no foreign key, since the ledger outlives definitions. */
    definitionId: uuid("definition_id"),
    /** `room:<slug>:<ms>`, the conversation that the event began. */
    conversationRef: text("conversation_ref"),
    backlogId: uuid("backlog_id"),
    /** The event that an operator reran as this one. */
    replayOf: uuid("replay_of"),
    matchedAt: moment("matched_at"),
  },
  (table) => [
    oneOf("room_events_outcome", table.outcome, eventOutcomes),
    uniqueIndex("room_events_conversation").on(table.conversationRef).where(sql`${table.conversationRef} is not null`),
    index("room_events_agent").on(table.agentId, table.receivedAt),
    index("room_events_source").on(table.sourceId),
    index("room_events_age").on(table.receivedAt),
  ],
);

export const backlogStatuses = ["pending", "processing", "completed", "failed", "discarded"] as const;

/** Events that the Room's turns handle. */
export const eventBacklog = pgTable(
  "event_backlog",
  {
    id: id(),
    agentId: ofAgent(),
    organizationId: organizationId(),
    roomEventId: uuid("room_event_id").references(() => roomEvents.id, { onDelete: "set null" }),
    definitionId: uuid("definition_id").references(() => eventDefinitions.id, { onDelete: "set null" }),
    rawPayload: jsonb("raw_payload"),
    status: text("status").$type<(typeof backlogStatuses)[number]>().notNull().default("pending"),
    /** How many turns took the entry. */
    attempts: integer("attempts").notNull().default(0),
    /**
     * The claim under which the entry is `processing`; each claim has a new value. For an entry that waits for
     * approval: the turn that stopped; for a completed entry: the turn that completed it.
     */
    claim: uuid("claim"),
    /** No turn takes the entry before this moment; null for at once. */
    notBefore: moment("not_before"),
    /** The agent's notes about its work. */
    reactNotes: text("react_notes"),
    /** Why the last attempt failed, without secrets. */
    error: text("error"),
    matchedAt: moment("matched_at").notNull(),
    completedAt: moment("completed_at"),
  },
  (table) => [
    oneOf("event_backlog_status", table.status, backlogStatuses),
    index("event_backlog_agent").on(table.agentId, table.matchedAt),
    index("event_backlog_open")
      .on(table.agentId, table.matchedAt)
      .where(sql`${table.status} in ('pending', 'processing')`),
    index("event_backlog_event").on(table.roomEventId),
    index("event_backlog_definition").on(table.definitionId),
    index("event_backlog_age").on(table.completedAt).where(sql`${table.completedAt} is not null`),
  ],
);
