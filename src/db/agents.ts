import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  doublePrecision,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { authorship, bytea, createdAt, id, moment, oneOf, updatedAt } from "./columns.ts";
import { organizations, workspaces } from "./identity.ts";

const organizationId = () =>
  uuid("organization_id")
    .notNull()
    .references(() => organizations.id, { onDelete: "cascade" });

export const agents = pgTable(
  "agents",
  {
    id: id(),
    organizationId: organizationId(),
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
    /** The HMAC of the secret `auth_api_key`: `/v1/models` finds the agent of a key by it. */
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

const agentId = () =>
  uuid("agent_id")
    .notNull()
    .references(() => agents.id, { onDelete: "cascade" });

export const agentIcons = pgTable("agent_icons", {
  agentId: agentId().primaryKey(),
  mime: text("mime").notNull(),
  bytes: bytea("bytes").notNull(),
  /** Changes with the picture, whose address has it. */
  version: text("version").notNull(),
  updatedAt: updatedAt(),
});

export const agentPrompts = pgTable(
  "agent_prompts",
  {
    agentId: agentId(),
    key: text("key").notNull(),
    content: text("content").notNull(),
    ...authorship(),
    updatedAt: updatedAt(),
  },
  (table) => [primaryKey({ columns: [table.agentId, table.key] })],
);

export const agentTools = pgTable(
  "agent_tools",
  {
    agentId: agentId(),
    name: text("name").notNull(),
    /** A row of `global` turns no tool on: it remembers the approval setting of a tool that a skill had turned on. */
    source: text("source").notNull(),
    needsApproval: boolean("needs_approval").notNull().default(false),
  },
  (table) => [
    primaryKey({ columns: [table.agentId, table.name, table.source] }),
    oneOf("agent_tools_source", table.source, ["global", "skill", "manual"]),
  ],
);

export const hooks = pgTable(
  "hooks",
  {
    id: id(),
    agentId: agentId(),
    event: text("event").notNull(),
    actionType: text("action_type").notNull().default("tool"),
    actionConfig: jsonb("action_config").$type<Record<string, unknown>>().notNull(),
    mutates: boolean("mutates").notNull().default(false),
    enabled: boolean("enabled").notNull().default(true),
    position: integer("position").notNull().default(0),
    timeoutMs: integer("timeout_ms").notNull().default(10_000),
    ...authorship(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    oneOf("hooks_event", table.event, [
      "conversation_start",
      "message_received",
      "response_generated",
      "response_sent",
    ]),
    index("hooks_agent").on(table.agentId, table.position),
  ],
);

/** Values sealed with AES-256-GCM; the AAD is `<owner id>:<key>`. An agent or an organization owns them. */
export const secrets = pgTable(
  "secrets",
  {
    id: id(),
    agentId: uuid("agent_id").references(() => agents.id, { onDelete: "cascade" }),
    organizationId: uuid("organization_id").references(() => organizations.id, { onDelete: "cascade" }),
    key: text("key").notNull(),
    keyId: text("key_id").notNull(),
    ciphertext: bytea("ciphertext").notNull(),
    ...authorship(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex("secrets_agent_key").on(table.agentId, table.key).where(sql`${table.agentId} is not null`),
    uniqueIndex("secrets_organization_key").on(table.organizationId, table.key).where(sql`${table.agentId} is null`),
  ],
);

/** A channel's whole configuration is sealed; the AAD is `<agent id>:channel:<type>`. */
export const channels = pgTable(
  "channels",
  {
    id: id(),
    agentId: agentId(),
    type: text("type").notNull(),
    enabled: boolean("enabled").notNull().default(false),
    keyId: text("key_id").notNull(),
    config: bytea("config").notNull(),
    status: text("status"),
    lastError: text("last_error"),
    /** The public address for which the messenger was told where to deliver, or is being told. */
    registeredAddress: text("registered_address"),
    /** The HMAC of the account's credential, while the channel is on and no other agent may use the account. */
    accountHmac: bytea("account_hmac"),
    /** How a messenger's messages come: `webhook`, or `polling` or `socket`, which a process follows. */
    transport: text("transport"),
    /** The process that follows the channel, until its lease ends. */
    followedBy: uuid("followed_by"),
    followedUntil: moment("followed_until"),
    lastReceivedAt: moment("last_received_at"),
    lastSentAt: moment("last_sent_at"),
    ...authorship(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex("channels_agent_type").on(table.agentId, table.type),
    uniqueIndex("channels_account").on(table.accountHmac).where(sql`${table.accountHmac} is not null`),
    index("channels_followed").on(table.followedUntil).where(sql`${table.enabled} and ${table.transport} <> 'webhook'`),
  ],
);

export const skills = pgTable(
  "skills",
  {
    id: id(),
    organizationId: organizationId(),
    slug: text("slug").notNull(),
    name: text("name").notNull(),
    category: text("category").notNull().default("general"),
    currentVersionId: uuid("current_version_id"),
    ...authorship(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [uniqueIndex("skills_organization_slug").on(table.organizationId, table.slug)],
);

export const skillVersions = pgTable(
  "skill_versions",
  {
    id: id(),
    skillId: uuid("skill_id")
      .notNull()
      .references(() => skills.id, { onDelete: "cascade" }),
    version: text("version").notNull(),
    description: text("description").notNull(),
    content: text("content").notNull(),
    requiredEnv: jsonb("required_env").$type<unknown[]>().notNull().default([]),
    requiredTools: text("required_tools").array().notNull().default([]),
    scripts: jsonb("scripts").$type<unknown[]>().notNull().default([]),
    changelog: text("changelog"),
    createdBy: uuid("created_by"),
    createdAt: createdAt(),
  },
  (table) => [uniqueIndex("skill_versions_skill_version").on(table.skillId, table.version)],
);

export const workspaceSkills = pgTable(
  "workspace_skills",
  {
    workspaceId: uuid("workspace_id")
      .notNull()
      .references(() => workspaces.id, { onDelete: "cascade" }),
    skillId: uuid("skill_id")
      .notNull()
      .references(() => skills.id, { onDelete: "cascade" }),
    createdAt: createdAt(),
  },
  (table) => [primaryKey({ columns: [table.workspaceId, table.skillId] })],
);

export const agentSkills = pgTable(
  "agent_skills",
  {
    agentId: agentId(),
    skillId: uuid("skill_id")
      .notNull()
      .references(() => skills.id, { onDelete: "cascade" }),
    enabled: boolean("enabled").notNull().default(true),
    autoLoad: boolean("auto_load").notNull().default(false),
    pinnedVersionId: uuid("pinned_version_id"),
    previousVersionId: uuid("previous_version_id"),
    updatedAt: updatedAt(),
  },
  (table) => [primaryKey({ columns: [table.agentId, table.skillId] })],
);

/** The AAD of a value is `<agent id>:<skill id>:<key>`. */
export const skillEnv = pgTable(
  "skill_env",
  {
    agentId: agentId(),
    skillId: uuid("skill_id").notNull(),
    key: text("key").notNull(),
    sensitive: boolean("sensitive").notNull().default(true),
    /** The version that the agent used when the value was stored; null where nobody knows. */
    versionId: uuid("version_id"),
    keyId: text("key_id").notNull(),
    ciphertext: bytea("ciphertext").notNull(),
    updatedAt: updatedAt(),
  },
  (table) => [
    primaryKey({ columns: [table.agentId, table.skillId, table.key] }),
    foreignKey({ columns: [table.skillId], foreignColumns: [skills.id] }).onDelete("cascade"),
  ],
);

/** The AAD of the sealed configuration is `<organization id>:plugin:<namespace>`. */
export const plugins = pgTable(
  "plugins",
  {
    id: id(),
    organizationId: organizationId(),
    namespace: text("namespace").notNull(),
    kind: text("kind").notNull(),
    enabled: boolean("enabled").notNull().default(true),
    keyId: text("key_id").notNull(),
    config: bytea("config").notNull(),
    /** `http` or `stdio`, as in the sealed configuration; null where an earlier release stored it, until the next start. */
    transport: text("transport"),
    /** The tools as the server listed them: name, description, inputSchema. */
    tools: jsonb("tools").$type<unknown[]>().notNull().default([]),
    status: text("status"),
    lastError: text("last_error"),
    /** When `tools` was listed. */
    refreshedAt: moment("refreshed_at"),
    ...authorship(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [uniqueIndex("plugins_organization_namespace").on(table.organizationId, table.namespace)],
);
