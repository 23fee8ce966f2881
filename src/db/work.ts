import { sql } from "drizzle-orm";
import { index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { createdAt, id, moment, oneOf } from "./columns.ts";

/** Work for later, done by whichever process takes it. A row goes when its work is done. */
export const jobs = pgTable(
  "jobs",
  {
    id: id(),
    kind: text("kind").notNull(),
    /** Of one kind and key at most one job waits, and at most one runs. */
    key: text("key"),
    payload: jsonb("payload").notNull().default({}),
    /** Not before; `-infinity` is at once. */
    runAt: moment("run_at").notNull().default(sql`'-infinity'`),
    /** How often it was begun. */
    attempts: integer("attempts").notNull().default(0),
    maxAttempts: integer("max_attempts").notNull().default(10),
    /** Who runs it: another value each time it is taken, so that nobody ends what another one took over. */
    lockedBy: uuid("locked_by"),
    lockedUntil: moment("locked_until"),
    /** `failed`: given up, kept for people to see. */
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
    index("jobs_running").on(table.lockedUntil).where(sql`${table.lockedUntil} is not null`),
    index("jobs_failed").on(table.failedAt).where(sql`${table.status} = 'failed'`),
  ],
);
