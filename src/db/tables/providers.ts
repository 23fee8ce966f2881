import { sql } from "drizzle-orm";
import { bigint, boolean, check, index, pgTable, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { type ConnectionProvider, connectionProviders } from "../../core/models/providers.ts";
import { type ProviderRole, providerRoles } from "../../core/models/roles.ts";
import { agents, ofAgent } from "./agents.ts";
import { authorship, bytea, createdAt, id, jsonb, oneOf, updatedAt } from "./columns.ts";
import { ofOrganization, workspaces } from "./identity.ts";

/** Connections to providers: an organization's shared ones, and an agent's private ones. */
export const providerConnections = pgTable(
  "provider_connections",
  {
    id: id(),
    organizationId: ofOrganization(),
    /** The agent of a private connection; null for a shared one. */
    agentId: uuid("agent_id").references(() => agents.id, { onDelete: "cascade" }),
    name: text("name").notNull(),
    provider: text("provider").$type<ConnectionProvider>().notNull(),
    /** Null: the provider's own address. */
    baseUrl: text("base_url"),
    /** The sealed key, which not every connection has; the AAD is `provider_connections:<id>`. */
    keyId: text("key_id"),
    ciphertext: bytea("ciphertext"),
    enabled: boolean("enabled").notNull().default(true),
    isDefault: boolean("is_default").notNull().default(false),
    ...authorship(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex("provider_connections_shared_name")
      .on(table.organizationId, table.name)
      .where(sql`${table.agentId} is null`),
    uniqueIndex("provider_connections_private_name")
      .on(table.agentId, table.name)
      .where(sql`${table.agentId} is not null`),
    uniqueIndex("provider_connections_default").on(table.organizationId).where(sql`${table.isDefault}`),
    oneOf("provider_connections_provider", table.provider, connectionProviders),
    check("provider_connections_shared_default", sql`not ${table.isDefault} or ${table.agentId} is null`),
    check("provider_connections_sealed", sql`(${table.keyId} is null) = (${table.ciphertext} is null)`),
  ],
);

/** A model that is tried after the bound one. */
export interface StoredFallback {
  connectionId: string;
  /** Null: the usual model of the connection's provider. */
  model: string | null;
}

/** The connection and model that an agent binds to a role. */
export const providerBindings = pgTable(
  "provider_bindings",
  {
    agentId: ofAgent(),
    role: text("role").$type<ProviderRole>().notNull(),
    /** Cascades, since deleting an agent deletes its connections and its bindings in no certain order. */
    connectionId: uuid("connection_id")
      .notNull()
      .references(() => providerConnections.id, { onDelete: "cascade" }),
    /** Null: the usual model of the connection's provider. */
    model: text("model"),
    /** In the order in which they are tried. */
    fallbacks: jsonb("fallbacks").$type<StoredFallback[]>().notNull().default([]),
    ...authorship(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    primaryKey({ columns: [table.agentId, table.role] }),
    index("provider_bindings_connection").on(table.connectionId),
    oneOf("provider_bindings_role", table.role, providerRoles),
  ],
);

/** A provider that a workspace admits. */
export interface StoredAdmitted {
  provider: ConnectionProvider;
  /** Null: each of its models. */
  models: string[] | null;
}

/** The providers that the agents of a workspace may use; a workspace without a row admits all. */
export const workspaceProviders = pgTable("workspace_providers", {
  workspaceId: uuid("workspace_id")
    .primaryKey()
    .references(() => workspaces.id, { onDelete: "cascade" }),
  /** Null: all providers. */
  admitted: jsonb("admitted").$type<StoredAdmitted[]>(),
  privateConnections: boolean("private_connections").notNull().default(true),
  updatedBy: uuid("updated_by"),
  createdAt: createdAt(),
  updatedAt: updatedAt(),
});

/** A price in millionths of the currency unit per million tokens. */
const price = (name: string) => bigint(name, { mode: "number" });

/** The prices that an organization sets. */
export const modelPrices = pgTable(
  "model_prices",
  {
    organizationId: ofOrganization(),
    provider: text("provider").$type<ConnectionProvider>().notNull(),
    /** A model, or the beginning of its name before a `*`. */
    model: text("model").notNull(),
    input: price("input").notNull(),
    /** Null: the price of other input. */
    cachedInput: price("cached_input"),
    cacheWrite: price("cache_write"),
    output: price("output").notNull(),
    /** The same in all rows of an organization. */
    currency: text("currency").notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.provider, table.model] })],
);
