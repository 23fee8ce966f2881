import { sql } from "drizzle-orm";
import { pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { agents } from "./agents.ts";
import { authorship, bytea, createdAt, id, updatedAt } from "./columns.ts";
import { organizations } from "./identity.ts";

/** Values of an agent or an organization, sealed with AES-256-GCM; the AAD is `<owner id>:<key>`. */
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
