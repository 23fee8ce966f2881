import { boolean, foreignKey, pgTable, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { ofAgent } from "./agents.ts";
import { authorship, bytea, createdAt, id, jsonb, updatedAt } from "./columns.ts";
import { ofOrganization, workspaces } from "./identity.ts";

export const skills = pgTable(
  "skills",
  {
    id: id(),
    organizationId: ofOrganization(),
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
    agentId: ofAgent(),
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

/** Values of a skill's variables. The AAD is `<agent id>:<skill id>:<key>`. */
export const skillEnv = pgTable(
  "skill_env",
  {
    agentId: ofAgent(),
    skillId: uuid("skill_id").notNull(),
    key: text("key").notNull(),
    sensitive: boolean("sensitive").notNull().default(true),
    /** The skill version in use when the value was stored; null when unknown. */
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
