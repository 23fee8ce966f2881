import { and, eq, inArray, isNotNull, notExists, sql } from "drizzle-orm";
import { channelOf, channelsThat } from "../../../core/channels/channels.ts";
import { newId } from "../../../core/ids.ts";
import type { Database } from "../../../db/client.ts";
import { conversations, outbox, turns } from "../../../db/schema.ts";
import { enqueue } from "../../../jobs/enqueue.ts";
import { sendWork } from "./outgoing.ts";
import { failedNotice } from "./replies.ts";

/** How many turns one call looks after, at most. */
const mostTurns = 100;

/**
 * Tells people that they get no answer whose turn went on after a decision, and ended with its process. Such a turn is
 * taken once, since its calls may have been made. Answers how many there were. Wake the worker after that.
 */
export async function tellOfLost(database: Database): Promise<number> {
  const lost = await findLost(database);
  if (lost.length === 0) return 0;
  await database.transaction(async (tx) => {
    for (const { turnId, organizationId, conversationId, agentId, channel, target } of lost) {
      const place = { agentId, channel: channelOf(channel), target };
      const part = { ...place, id: newId(), conversationId, turnId, part: 0, body: failedNotice };
      // Another replica may have stored the same notice in this moment.
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
