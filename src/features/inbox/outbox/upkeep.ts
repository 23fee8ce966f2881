import { and, eq, inArray, isNotNull, notExists, sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { channelOf, channelsThat } from "../../../core/channels/channels.ts";
import { newId } from "../../../core/ids.ts";
import { every } from "../../../core/time/every.ts";
import type { Database } from "../../../db/client.ts";
import { assign, isPast } from "../../../db/fragments.ts";
import { isNotHeld } from "../../../db/held.ts";
import { albums, conversations, inbox, jobs, outbox, turns } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import { enqueue } from "../../../jobs/enqueue.ts";
import type { OldRows } from "../../../jobs/old-rows.ts";
import { sendJob, sendWork, tellJob } from "./outgoing.ts";
import { failedNotice } from "./replies.ts";
import { isUnsent } from "./rows.ts";

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];

const isReceived = sql`${inbox.status} <> 'pending' and ${isNotHeld("id", inbox.conversationId)}`;
const isSent = sql`not ${isUnsent} and ${isNotHeld("id", outbox.conversationId)}`;

/**
 * Finished and given-up messages, except those of conversations under legal hold, and parts of albums, which all arrive
 * within an hour.
 */
export const oldMessages: OldRows[] = [
  { table: inbox, since: inbox.createdAt, afterMs: 30 * dayMs, where: isReceived },
  { table: outbox, since: outbox.createdAt, afterMs: 30 * dayMs, where: isSent },
  { table: albums, since: albums.createdAt, afterMs: hourMs },
];

/**
 * Upkeep of the outbox, once a minute: gives up messages whose job failed for good, and sends notices about lost turns.
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

/** The destinations with unsent parts whose job failed for good. */
const strandedStatement = statement({ now: "timestamptz" }, ({ now }) => {
  const key = sql`${outbox.agentId} || ':' || ${outbox.channel} || ':' || ${outbox.target}`;
  const job = sql`
    select 1 from ${jobs}
    where ${jobs.kind} in (${sendJob.kind}, ${tellJob.kind}) and ${jobs.key} = ${key} and ${jobs.status} = 'pending'`;
  return sql<{ id: string }>`
    update ${outbox} set ${assign(outbox, given)}
    where ${isUnsent} and ${isPast(outbox.createdAt, now, hourMs)} and not exists (${job}) returning ${outbox.id}`;
});

/** The most turns of one call. */
const mostTurns = 100;

/**
 * Sends a notice to people whose turn continued after an approval and was lost with its process. Such a turn runs only
 * once, since its calls may have been made. Returns the number of notices. Wake the worker afterwards.
 */
async function tellOfLost(database: Database): Promise<number> {
  const lost = await findLost(database);
  if (lost.length === 0) return 0;
  await database.transaction(async (tx) => {
    for (const { turnId, organizationId, conversationId, agentId, channel, target } of lost) {
      const place = { agentId, channel: channelOf(channel), target };
      const part = { ...place, id: newId(), conversationId, turnId, part: 0, body: failedNotice };
      // Another replica may have just stored the same notice.
      const told = await tx.insert(outbox).values(part).onConflictDoNothing().returning({ id: outbox.id });
      if (told.length > 0) await enqueue(tx, sendWork(place), { organizationId });
    }
  });
  return lost.length;
}

function findLost({ db }: Database) {
  const isLost = sql`${turns.status} = 'lost' and ${turns.createdAt} > now() - interval '1 day'`;
  const told = db.select({ id: outbox.id }).from(outbox).where(eq(outbox.turnId, turns.id));
  return db
    .select({
      turnId: turns.id,
      agentId: turns.agentId,
      organizationId: turns.organizationId,
      conversationId: conversations.id,
      channel: conversations.channel,
      target: conversations.channelId,
    })
    .from(turns)
    .innerJoin(conversations, eq(conversations.id, turns.conversationId))
    .where(
      and(
        isLost,
        isNotNull(turns.continues),
        inArray(conversations.channel, channelsThat("sendsLater")),
        notExists(told),
      ),
    )
    .limit(mostTurns);
}
