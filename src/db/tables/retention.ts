import { sql } from "drizzle-orm";
import { boolean, index, integer, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { createdAt, moment, updatedAt } from "./columns.ts";
import { ofOrganization } from "./identity.ts";

/** After how many days an organization's rows of a subject, such as `conversations`, are deleted. */
export const retentionPolicies = pgTable(
  "retention_policies",
  {
    organizationId: ofOrganization(),
    subject: text("subject").notNull(),
    enabled: boolean("enabled").notNull().default(false),
    days: integer("days").notNull(),
    enabledAt: moment("enabled_at"),
    /** When the next deletion is due; null while the policy is off. */
    nextRunAt: moment("next_run_at"),
    lastRunAt: moment("last_run_at"),
    updatedBy: uuid("updated_by"),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.subject] }),
    index("retention_policies_due").on(table.nextRunAt).where(sql`${table.enabled}`),
  ],
);
