import { and, eq, gt } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { inbox, outbox } from "../../../db/schema.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** Messages of the last 24 hours that were given up. */
export interface MessagesReport {
  /** Messages of people that could not be answered. */
  unanswered: number;
  /** Messages, or parts of them, that could not be sent. */
  unsent: number;
}

/** Counts them for `doctor`. Changes nothing. */
export async function inspectMessages({ db }: Database, now: number): Promise<MessagesReport> {
  const failedLately = (table: typeof inbox | typeof outbox) =>
    and(eq(table.status, "failed"), gt(table.createdAt, new Date(now - dayMs)));
  return {
    unanswered: await db.$count(inbox, failedLately(inbox)),
    unsent: await db.$count(outbox, failedLately(outbox)),
  };
}
