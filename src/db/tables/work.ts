import { sql } from "drizzle-orm";
import { index, integer, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { createdAt, id, jsonb, moment, oneOf } from "./columns.ts";

/** The lane of jobs without an organization. */
export const commonLane = "00000000-0000-0000-0000-000000000000";

/** Background work. A process claims a job and deletes its row when the work is done. */
export const jobs = pgTable(
  "jobs",
  {
    id: id(),
    kind: text("kind").notNull(),
    /** Jobs with the same kind and key exclude each other: at most one waits, and at most one runs. */
    key: text("key"),
    /** Jobs of a kind take turns by organization. Without a foreign key, since a job may outlive the organization. */
    organizationId: uuid("organization_id"),
    payload: jsonb("payload").notNull().default({}),
    /** The earliest start; `-infinity` for at once. */
    runAt: moment("run_at").notNull().default(sql`'-infinity'`),
    /** How often the job was started. */
    attempts: integer("attempts").notNull().default(0),
    maxAttempts: integer("max_attempts").notNull().default(10),
    /**
     * The claim that runs the job. Each claim has a new value, so that a process can't end a job that another one took
     * over.
     */
    lockedBy: uuid("locked_by"),
    lockedUntil: moment("locked_until"),
    /** `pending`, or `failed` for a job that was given up and is stored for the operator. */
    status: text("status").notNull().default("pending"),
    lastError: text("last_error"),
    failedAt: moment("failed_at"),
    createdAt: createdAt(),
  },
  (table) => [
    oneOf("jobs_status", table.status, ["pending", "failed"]),
    uniqueIndex("jobs_key")
      .on(table.kind, table.key)
      .where(sql`${table.status} = 'pending' and ${table.lockedUntil} is null`),
    index("jobs_due")
      .on(table.runAt, table.id)
      .where(sql`${table.status} = 'pending' and ${table.lockedUntil} is null`),
    index("jobs_lanes")
      .on(
        table.kind,
        sql`coalesce(${table.organizationId}, ${sql.raw(`'${commonLane}'`)}::uuid)`,
        table.runAt,
        table.id,
      )
      .where(sql`${table.status} = 'pending' and ${table.lockedUntil} is null`),
    index("jobs_running").on(table.lockedUntil).where(sql`${table.lockedUntil} is not null`),
    index("jobs_failed").on(table.failedAt).where(sql`${table.status} = 'failed'`),
  ],
);
