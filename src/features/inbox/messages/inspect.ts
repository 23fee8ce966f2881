import { and, asc, desc, eq, gt } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { agents, inbox, outbox } from "../../../db/schema.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** Messages given up in the last 24 hours. */
export interface MessagesReport {
  /** People's messages that could not be answered. */
  unanswered: number;
  /** Messages, or parts of them, that could not be sent. */
  unsent: number;
  /** The newest unsent message; null for none. */
  lastUnsent: { slug: string; channel: string; error: string } | null;
}

/** Counts given-up messages, for `doctor`. Changes nothing. */
export async function inspectMessages({ db }: Database, now: number): Promise<MessagesReport> {
  const failedLately = (table: typeof inbox | typeof outbox) =>
    and(eq(table.status, "failed"), gt(table.createdAt, new Date(now - dayMs)));
  const { channel, error } = outbox;
  const [last] = await db
    .select({ slug: agents.slug, channel, error })
    .from(outbox)
    .innerJoin(agents, eq(agents.id, outbox.agentId))
    .where(failedLately(outbox))
    .orderBy(desc(outbox.createdAt), asc(outbox.part))
    .limit(1);
  return {
    lastUnsent: last ? { ...last, error: last.error ?? "" } : null,
    unanswered: await db.$count(inbox, failedLately(inbox)),
    unsent: await db.$count(outbox, failedLately(outbox)),
  };
}
