import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  doublePrecision,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { authorship, bytea, createdAt, id, updatedAt } from "./columns.ts";
import { ofOrganization, workspaces } from "./identity.ts";

export const agents = pgTable(
  "agents",
  {
    id: id(),
    organizationId: ofOrganization(),
    workspaceId: uuid("workspace_id")
      .notNull()
      .references(() => workspaces.id, { onDelete: "restrict" }),
    slug: text("slug").notNull().unique(),
    name: text("name").notNull(),
    description: text("description").notNull().default(""),
    active: boolean("active").notNull().default(true),
    provider: text("provider"),
    model: text("model"),
    fastModel: text("fast_model"),
    connectionId: uuid("connection_id"),
    authEnabled: boolean("auth_enabled").notNull().default(true),
    /** The HMAC of the secret `auth_api_key`, by which `/v1/models` finds the key's agent. */
    authKeyHmac: bytea("auth_key_hmac"),
    tracingEnabled: boolean("tracing_enabled").notNull().default(false),
    tracingProject: text("tracing_project"),
    memoryEnabled: boolean("memory_enabled").notNull().default(true),
    knowledgeEnabled: boolean("knowledge_enabled").notNull().default(false),
    thinkingEnabled: boolean("thinking_enabled").notNull().default(false),
    temperature: doublePrecision("temperature"),
    maxOutputTokens: integer("max_output_tokens"),
    maxSteps: integer("max_steps").notNull().default(16),
    historyLimit: integer("history_limit").notNull().default(100),
    stateInPromptEnabled: boolean("state_in_prompt_enabled").notNull().default(true),
    toolResultsInHistoryEnabled: boolean("tool_results_in_history_enabled").notNull().default(true),
    debugEnabled: boolean("debug_enabled").notNull().default(false),
    attachmentsEnabled: boolean("attachments_enabled").notNull().default(false),
    streamUsageEnabled: boolean("stream_usage_enabled").notNull().default(false),
    debounceMs: integer("debounce_ms"),
    typingDelayMs: integer("typing_delay_ms"),
    maxRestarts: integer("max_restarts"),
    timezone: text("timezone").notNull().default("UTC"),
    monthlyTokenBudget: bigint("monthly_token_budget", { mode: "number" }),
    userMonthlyTokenBudget: bigint("user_monthly_token_budget", { mode: "number" }),
    /** Budgets of money are in millionths of the currency unit of the organization's prices. */
    monthlyCostBudget: bigint("monthly_cost_budget", { mode: "number" }),
    userMonthlyCostBudget: bigint("user_monthly_cost_budget", { mode: "number" }),
    optoutEnabled: boolean("optout_enabled").notNull().default(false),
    optoutStopKeywords: text("optout_stop_keywords").array().notNull().default(["STOP"]),
    optoutResumeKeywords: text("optout_resume_keywords").array().notNull().default(["START"]),
    optoutClosingMessage: text("optout_closing_message"),
    optoutResumeMessage: text("optout_resume_message"),
    revision: integer("revision").notNull().default(1),
    ...authorship(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex("agents_auth_key").on(table.authKeyHmac).where(sql`${table.authKeyHmac} is not null`),
    index("agents_organization").on(table.organizationId, table.name),
    index("agents_workspace").on(table.workspaceId),
  ],
);

/** A column for the agent that a row belongs to; deleting the agent deletes the row. */
export const ofAgent = () =>
  uuid("agent_id")
    .notNull()
    .references(() => agents.id, { onDelete: "cascade" });

export const agentIcons = pgTable("agent_icons", {
  agentId: ofAgent().primaryKey(),
  mime: text("mime").notNull(),
  bytes: bytea("bytes").notNull(),
  /** Changes with the picture; part of its address. */
  version: text("version").notNull(),
  updatedAt: updatedAt(),
});

const { id: agentId, slug, name, organizationId, workspaceId } = agents;

/** The columns of an agent that events of activity need, for statements that read `agents`. */
export const actingAgent = {
  id: agentId,
  slug,
  name,
  organizationId,
  workspaceId,
  iconVersion: sql<
    string | null
  >`(select ${agentIcons.version} from ${agentIcons} where ${agentIcons.agentId} = ${agentId})`,
};

export const agentPrompts = pgTable(
  "agent_prompts",
  {
    agentId: ofAgent(),
    key: text("key").notNull(),
    content: text("content").notNull(),
    ...authorship(),
    updatedAt: updatedAt(),
  },
  (table) => [primaryKey({ columns: [table.agentId, table.key] })],
);
