import { sql } from "drizzle-orm";
import type { Services } from "../../../context.ts";
import { every } from "../../../core/time/every.ts";
import { isPast } from "../../../db/age.ts";
import { assign } from "../../../db/fragments.ts";
import { albums, inbox, jobs, outbox } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import { tellOfLost } from "./lost.ts";
import { sendJob, tellJob } from "./outgoing.ts";
import { isUnsent } from "./rows.ts";

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];

/** How long messages that are settled are kept. */
const keptMs = 30 * dayMs;

/** Rows of a table that one call deletes at most, so that no other upkeep waits for it. */
const batchSize = 1_000;

/**
 * Upkeep of inbox and outbox: tells of lost turns and gives up messages whose job failed for good, once a minute, and
 * deletes settled messages after 30 days and what waits of albums after an hour, once an hour.
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
    // While more are left than one batch, every call deletes a batch.
    every(clock, hourMs, async (now) => {
      const at = { now: new Date(now) };
      const gone = await Promise.all([deleteInbox, deleteOutbox].map((old) => old.run(database, at)));
      return gone.every((rows) => rows.length < batchSize);
    }),
    every(clock, hourMs, async (now) => {
      const gone = await deleteAlbums.run(database, { now: new Date(now) });
      return gone.length < batchSize;
    }),
  ];
}

/** Replicas may run these at the same time: each skips the rows that another one holds. */
const deleteInbox = statement(
  { now: "timestamptz" },
  ({ now }) => sql<{ id: string }>`
    delete from ${inbox} where ${inbox.id} = any(array(
      select ${inbox.id} from ${inbox} where ${isPast(inbox.createdAt, now, keptMs)} and ${inbox.status} <> 'pending'
      order by ${inbox.createdAt} limit ${batchSize} for update skip locked))
    returning ${inbox.id}`,
);

const deleteOutbox = statement(
  { now: "timestamptz" },
  ({ now }) => sql<{ id: string }>`
    delete from ${outbox} where ${outbox.id} = any(array(
      select ${outbox.id} from ${outbox} where ${isPast(outbox.createdAt, now, keptMs)} and not ${isUnsent}
      order by ${outbox.createdAt} limit ${batchSize} for update skip locked))
    returning ${outbox.id}`,
);

/** All parts of an album have come by then. */
const deleteAlbums = statement(
  { now: "timestamptz" },
  ({ now }) => sql<{ id: string }>`
    delete from ${albums} where ctid = any(array(
      select ctid from ${albums} where ${isPast(albums.createdAt, now, hourMs)}
      order by ${albums.createdAt} limit ${batchSize} for update skip locked))
    returning ${albums.albumId} as id`,
);

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
