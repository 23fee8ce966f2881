import { sql } from "drizzle-orm";
import { bigint, check, date, integer, pgTable, primaryKey, smallint, text, uuid } from "drizzle-orm/pg-core";
import type { SubjectKey } from "../../core/channels/subjects.ts";
import { ofAgent } from "./agents.ts";
import { moment } from "./columns.ts";

// Numbers of turns by UTC day. The roll-up adds to them during the day, too. They cover turns created before
// `usageRollups.until`; newer turns are counted from `turns`.

/** A single row: the time up to which turns and tool calls are rolled up. */
export const usageRollups = pgTable(
  "usage_rollups",
  {
    id: smallint("id").primaryKey().default(1),
    until: moment("until").notNull(),
  },
  (table) => [check("usage_rollups_single", sql`${table.id} = 1`)],
);

/** The UTC day on which turns were created. */
const day = () => date("day").notNull();

const sums = () => ({
  promptTokens: bigint("prompt_tokens", { mode: "number" }).notNull(),
  completionTokens: bigint("completion_tokens", { mode: "number" }).notNull(),
  /** The cost of the priced turns, in millionths of the currency unit. */
  costMicros: bigint("cost_micros", { mode: "number" }).notNull().default(0),
  /** The number of turns whose cost is known. */
  priced: integer("priced").notNull().default(0),
});

export const usageDaily = pgTable(
  "usage_daily",
  {
    agentId: ofAgent(),
    day: day(),
    channel: text("channel").notNull(),
    /** `provider:model`. */
    model: text("model").notNull(),
    turns: integer("turns").notNull(),
    messages: integer("messages").notNull(),
    ...sums(),
  },
  (table) => [primaryKey({ columns: [table.agentId, table.day, table.channel, table.model] })],
);

/** The number of turns by duration, in buckets (`features/analytics/buckets.ts`). */
export const latencyDaily = pgTable(
  "latency_daily",
  {
    agentId: ofAgent(),
    day: day(),
    measure: text("measure").$type<"turn" | "first-output">().notNull(),
    bucket: smallint("bucket").notNull(),
    turns: integer("turns").notNull(),
  },
  (table) => [primaryKey({ columns: [table.agentId, table.day, table.measure, table.bucket] })],
);

/** The number of tool calls by duration, in the same buckets. */
export const toolUsageDaily = pgTable(
  "tool_usage_daily",
  {
    agentId: ofAgent(),
    day: day(),
    /** The tool's canonical name. */
    tool: text("tool").notNull(),
    bucket: smallint("bucket").notNull(),
    calls: integer("calls").notNull(),
    errors: integer("errors").notNull(),
  },
  (table) => [primaryKey({ columns: [table.agentId, table.day, table.tool, table.bucket] })],
);

/** Stands for the conversation of turns without a stored one. */
export const noConversation = "00000000-0000-0000-0000-000000000000";

export const userUsageDaily = pgTable(
  "user_usage_daily",
  {
    agentId: ofAgent(),
    day: day(),
    /** The end user; empty when unknown. */
    subject: text("subject").$type<SubjectKey>().notNull(),
    /** Without a foreign key: the numbers outlive the conversation. */
    conversationId: uuid("conversation_id").notNull(),
    turns: integer("turns").notNull(),
    ...sums(),
  },
  (table) => [primaryKey({ columns: [table.agentId, table.day, table.subject, table.conversationId] })],
);
