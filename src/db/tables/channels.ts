import { sql } from "drizzle-orm";
import { boolean, index, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { ofAgent } from "./agents.ts";
import { authorship, bytea, createdAt, id, moment, updatedAt } from "./columns.ts";

/**
 * Channels. The whole configuration is sealed; the AAD is `<agent id>:channel:<type>`. A row made by migration 0025 has
 * no configuration and an empty `keyId` until its first save.
 */
export const channels = pgTable(
  "channels",
  {
    id: id(),
    agentId: ofAgent(),
    type: text("type").notNull(),
    enabled: boolean("enabled").notNull().default(false),
    keyId: text("key_id").notNull(),
    config: bytea("config").notNull(),
    status: text("status"),
    lastError: text("last_error"),
    /** Since when the channel has had any error; null without one, and for errors noted by an earlier release. */
    errorSince: moment("error_since"),
    /** The public address that the messenger delivers to, stored before the messenger is called. */
    registeredAddress: text("registered_address"),
    /** The HMAC of the account's credential, stored while the channel is on and no other agent may use the account. */
    accountHmac: bytea("account_hmac"),
    /** How messages arrive: `webhook`, or by a process that follows the channel with `polling` or `socket`. */
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
