import { ne, sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { every } from "../../../core/time/every.ts";
import { isPast } from "../../../db/age.ts";
import { assign } from "../../../db/fragments.ts";
import { albums, inbox, jobs, outbox } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import type { OldRows } from "../../../jobs/old-rows.ts";
import { tellOfLost } from "./lost.ts";
import { sendJob, tellJob } from "./outgoing.ts";
import { isUnsent } from "./rows.ts";

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];

/** Messages that are done or were given up, and parts of albums: all parts of one have come within an hour. */
export const oldMessages: OldRows[] = [
  { table: inbox, since: inbox.createdAt, afterMs: 30 * dayMs, where: ne(inbox.status, "pending") },
  { table: outbox, since: outbox.createdAt, afterMs: 30 * dayMs, where: sql`not ${isUnsent}` },
  { table: albums, since: albums.createdAt, afterMs: hourMs },
];

/**
 * Upkeep of the outbox: tells of lost turns and gives up messages whose job failed for good, once a minute.
 */
export function createUpkeep({ database, clock, log }: Services, wake: () => void): (() => Promise<void>)[] {
  return [
    every(clock, minuteMs, async () => {
      if ((await tellOfLost(database)) > 0) wake();
      return true;
    }),
    every(clock, minuteMs, async (now) => {
      const stranded = await strandedStatement.run(database, { now: new Date(now) });
      if (stranded.length > 0) log.warn({ stranded: stranded.length }, "Messages were given up: their jobs failed");
      return true;
    }),
  ];
}

const given = {
  status: "failed",
  error: "The server failed each time that it tried to send it",
  retryAt: sql`null`,
};

/** A place with unsent parts has a job, unless the job failed for good. */
const strandedStatement = statement({ now: "timestamptz" }, ({ now }) => {
  const key = sql`${outbox.agentId} || ':' || ${outbox.channel} || ':' || ${outbox.target}`;
  const job = sql`
    select 1 from ${jobs}
    where ${jobs.kind} in (${sendJob.kind}, ${tellJob.kind}) and ${jobs.key} = ${key} and ${jobs.status} = 'pending'`;
  return sql<{ id: string }>`
    update ${outbox} set ${assign(outbox, given)}
    where ${isUnsent} and ${isPast(outbox.createdAt, now, hourMs)} and not exists (${job}) returning ${outbox.id}`;
});
