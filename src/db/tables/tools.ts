import { boolean, index, integer, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { ofAgent } from "./agents.ts";
import { authorship, bytea, createdAt, id, jsonb, moment, oneOf, updatedAt } from "./columns.ts";
import { ofOrganization } from "./identity.ts";

export const agentTools = pgTable(
  "agent_tools",
  {
    agentId: ofAgent(),
    name: text("name").notNull(),
    /** `global`: the row turns no tool on. It stores the approval setting of a tool that a skill turned on. */
    source: text("source").notNull(),
    needsApproval: boolean("needs_approval").notNull().default(false),
  },
  (table) => [
    primaryKey({ columns: [table.agentId, table.name, table.source] }),
    oneOf("agent_tools_source", table.source, ["global", "skill", "manual"]),
  ],
);

/**
 * Configured plugins, such as MCP servers. The AAD of the sealed configuration is `<organization
 * id>:plugin:<namespace>`.
 */
export const plugins = pgTable(
  "plugins",
  {
    id: id(),
    organizationId: ofOrganization(),
    namespace: text("namespace").notNull(),
    kind: text("kind").notNull(),
    enabled: boolean("enabled").notNull().default(true),
    keyId: text("key_id").notNull(),
    config: bytea("config").notNull(),
    /** `http` or `stdio`, as in the sealed configuration; null in rows of an earlier release until the next start. */
    transport: text("transport"),
    /** The tools as the server listed them: name, description, inputSchema. */
    tools: jsonb("tools").$type<unknown[]>().notNull().default([]),
    status: text("status"),
    lastError: text("last_error"),
    /** When `tools` was last listed. */
    refreshedAt: moment("refreshed_at"),
    ...authorship(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [uniqueIndex("plugins_organization_namespace").on(table.organizationId, table.namespace)],
);

export const hooks = pgTable(
  "hooks",
  {
    id: id(),
    agentId: ofAgent(),
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

/** Whether an organization may use the plugin of a package. A package without a row is on. */
export const pluginPackages = pgTable(
  "plugin_packages",
  {
    organizationId: ofOrganization(),
    namespace: text("namespace").notNull(),
    enabled: boolean("enabled").notNull().default(true),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.namespace] })],
);
