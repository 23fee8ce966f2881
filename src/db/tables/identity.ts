import { sql } from "drizzle-orm";
import {
  type AnyPgColumn,
  boolean,
  check,
  index,
  integer,
  pgTable,
  primaryKey,
  smallint,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { authorship, bytea, createdAt, id, jsonb, moment, oneOf, updatedAt } from "./columns.ts";

/** A single row with the state of the whole installation. */
export const installation = pgTable("installation", {
  id: smallint("id").primaryKey().default(1),
  policies: jsonb("policies").$type<Record<string, unknown>>().notNull().default({}),
  policiesRevision: integer("policies_revision").notNull().default(1),
  /** A known text, sealed with the encryption key: opening it at the start proves that the key is right. */
  keyCheck: bytea("key_check"),
  keyCheckKeyId: text("key_check_key_id"),
  /** The mail relay as JSON, sealed; the AAD is `installation:<id>`. Null without a relay. */
  mailRelay: bytea("mail_relay"),
  mailRelayKeyId: text("mail_relay_key_id"),
  lastTickAt: moment("last_tick_at"),
  createdAt: createdAt(),
});

export const organizations = pgTable(
  "organizations",
  {
    id: id(),
    slug: text("slug").notNull().unique(),
    name: text("name").notNull(),
    revision: integer("revision").notNull().default(1),
    /** When the organization was deleted: nobody reaches it any more, and a job deletes its rows. */
    deletedAt: moment("deleted_at"),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  // Every guarded request reads the first organization.
  (table) => [index("organizations_order").on(table.createdAt, table.id)],
);

/** Selects the id of the oldest organization, whose Owners administer the installation. */
export const firstOrganization = sql`
  select ${organizations.id} from ${organizations} order by ${organizations.createdAt}, ${organizations.id} limit 1`;

/**
 * The creation time of a further organization: later than all others, even when the clock was set back. Otherwise its
 * Owners would administer the installation instead of the first organization's.
 */
export const afterAllOrganizations = sql`greatest(
  now(), (select max(${organizations.createdAt}) + interval '1 millisecond' from ${organizations}))`;

/** A column for the organization that a row belongs to; deleting the organization deletes the row. */
export const ofOrganization = () =>
  uuid("organization_id")
    .notNull()
    .references(() => organizations.id, { onDelete: "cascade" });

export const workspaces = pgTable(
  "workspaces",
  {
    id: id(),
    organizationId: ofOrganization(),
    name: text("name").notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [index("workspaces_organization").on(table.organizationId)],
);

export const users = pgTable(
  "users",
  {
    id: id(),
    /** In lower case. */
    email: text("email").notNull().unique(),
    name: text("name").notNull(),
    /** Null for a user who signs in through an identity provider. */
    passwordHash: text("password_hash"),
    /** The user or management key that set the password; null when the account's user set it. */
    passwordSetBy: uuid("password_set_by"),
    /**
     * The organization for which `passwordSetBy` acted: the account reaches only this organization until its user chooses
     * a password. There is no foreign key: deleting the organization must not open the others to the account.
     */
    passwordOrganization: uuid("password_organization"),
    isPlatformAdmin: boolean("is_platform_admin").notNull().default(false),
    /** Whether the user may sign in. */
    active: boolean("active").notNull().default(true),
    onboarding: jsonb("onboarding").$type<Record<string, unknown>>().notNull().default({}),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [index("users_platform_admins").on(table.id).where(sql`${table.isPlatformAdmin}`)],
);

const userId = () =>
  uuid("user_id")
    .notNull()
    .references(() => users.id, { onDelete: "cascade" });

export const members = pgTable(
  "members",
  {
    organizationId: ofOrganization(),
    userId: userId(),
    roleKey: text("role_key").notNull(),
    createdAt: createdAt(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.userId] }), index("members_user").on(table.userId)],
);

/** The custom roles of an organization. A built-in role has no row, and its key is never stored here. */
export const customRoles = pgTable(
  "roles",
  {
    id: id(),
    organizationId: ofOrganization(),
    key: text("key").notNull(),
    name: text("name").notNull(),
    permissions: text("permissions").array().notNull(),
    /** Whether the role reaches every workspace of the organization. */
    allWorkspaces: boolean("all_workspaces").notNull().default(false),
    ...authorship(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [uniqueIndex("roles_organization_key").on(table.organizationId, table.key)],
);

export const workspaceMembers = pgTable(
  "workspace_members",
  {
    workspaceId: uuid("workspace_id")
      .notNull()
      .references(() => workspaces.id, { onDelete: "cascade" }),
    userId: userId(),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.userId] }),
    index("workspace_members_user").on(table.userId),
  ],
);

/**
 * The time at which a user joins a further organization: later than all earlier ones, even when the clock was set back.
 * The audit log of the user's first organization shows the sign-ins, and no other organization may replace it.
 */
export const afterMembershipsOf = (userId: string) => sql`greatest(now(), (
  select max(${members.createdAt}) + interval '1 millisecond' from ${members} where ${members.userId} = ${userId}))`;

/**
 * Invitations of existing accounts by an organization that did not create them. An invitation is deleted with its
 * inviter: a removed user or a revoked management key.
 */
export const invitations = pgTable(
  "invitations",
  {
    id: id(),
    organizationId: ofOrganization(),
    userId: userId(),
    roleKey: text("role_key").notNull(),
    /** Exactly one of the two columns is set. */
    invitedByUser: uuid("invited_by_user").references(() => users.id, { onDelete: "cascade" }),
    invitedByKey: uuid("invited_by_key").references((): AnyPgColumn => accessTokens.id, { onDelete: "cascade" }),
    expiresAt: moment("expires_at").notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    check("invitations_inviter", sql`num_nonnulls(${table.invitedByUser}, ${table.invitedByKey}) = 1`),
    uniqueIndex("invitations_user").on(table.userId, table.organizationId),
    index("invitations_organization").on(table.organizationId),
    index("invitations_key").on(table.invitedByKey).where(sql`${table.invitedByKey} is not null`),
    index("invitations_expires_at").on(table.expiresAt),
  ],
);

/** The client addresses, in the form of `clientKey`, from which users signed in with the right password. */
export const signInAddresses = pgTable(
  "sign_in_addresses",
  {
    userId: userId(),
    client: text("client").notNull(),
    usedAt: moment("used_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.client] }),
    index("sign_in_addresses_used_at").on(table.usedAt),
  ],
);

const tokenKinds = ["session", "management", "personal", "impersonation"] as const;

/** Sessions, management keys, personal tokens and impersonations, distinguished by `kind`. Only digests are stored. */
export const accessTokens = pgTable(
  "access_tokens",
  {
    id: id(),
    kind: text("kind").$type<(typeof tokenKinds)[number]>().notNull(),
    /** Null only for a management key in the older form before its first use. */
    digest: bytea("digest").unique(),
    /** A bcrypt hash: the older form of a management key (spec "Management API key"). */
    legacyHash: text("legacy_hash"),
    /** The user whose rights the token has; null for a management key. */
    userId: uuid("user_id").references(() => users.id, { onDelete: "cascade" }),
    /** The organization of a management key, and of a personal token with the scope `organization`. */
    organizationId: uuid("organization_id").references(() => organizations.id, { onDelete: "cascade" }),
    /** The reach of a personal token; null for other kinds. */
    scope: text("scope").$type<"organization" | "installation">(),
    /** The permissions to which a personal token is narrowed; null for all of its holder's. */
    permissions: text("permissions").array(),
    name: text("name"),
    prefix: text("prefix"),
    activeOrganizationId: uuid("active_organization_id").references(() => organizations.id, { onDelete: "set null" }),
    expiresAt: moment("expires_at"),
    lastUsedAt: moment("last_used_at"),
    ip: text("ip"),
    userAgent: text("user_agent"),
    /** The creator of a management key; the impersonator of an impersonation. */
    createdBy: uuid("created_by").references(() => users.id, { onDelete: "set null" }),
    createdAt: createdAt(),
  },
  (table) => [
    oneOf("access_tokens_kind", table.kind, tokenKinds),
    oneOf("access_tokens_scope", table.scope, ["organization", "installation"]),
    check("access_tokens_verifiable", sql`${table.digest} is not null or ${table.legacyHash} is not null`),
    index("access_tokens_legacy").on(table.prefix).where(sql`${table.legacyHash} is not null`),
    index("access_tokens_user").on(table.userId),
    index("access_tokens_organization").on(table.organizationId),
  ],
);

/** Links that work once, such as the installation's set-up link. */
export const oneTimeTokens = pgTable("one_time_tokens", {
  id: id(),
  kind: text("kind").notNull(),
  digest: bytea("digest").notNull().unique(),
  payload: jsonb("payload").$type<Record<string, unknown>>().notNull().default({}),
  expiresAt: moment("expires_at").notNull(),
  usedAt: moment("used_at"),
  createdAt: createdAt(),
});

/** Fixed windows of requests by key. UNLOGGED (set in the migration), since a crash may lose them. */
export const throttles = pgTable(
  "throttles",
  {
    key: text("key").primaryKey(),
    count: integer("count").notNull(),
    resetsAt: moment("resets_at").notNull(),
  },
  (table) => [index("throttles_resets_at").on(table.resetsAt)],
);

/** The audit log. Only the organization is a foreign key, since an entry outlives its actor and its target. */
export const auditLogs = pgTable(
  "audit_logs",
  {
    id: id(),
    organizationId: uuid("organization_id").references(() => organizations.id, { onDelete: "set null" }),
    actorType: text("actor_type").notNull(),
    actorId: uuid("actor_id"),
    actorName: text("actor_name"),
    action: text("action").notNull(),
    target: text("target"),
    agentId: uuid("agent_id"),
    success: boolean("success").notNull().default(true),
    summary: jsonb("summary").$type<Record<string, unknown>>().notNull().default(sql`'{}'::jsonb`),
    ip: text("ip"),
    requestId: text("request_id"),
    createdAt: createdAt(),
  },
  (table) => [
    index("audit_logs_organization").on(table.organizationId, table.createdAt),
    uniqueIndex("audit_logs_by_time").on(table.createdAt, table.id),
  ],
);
