import { and, eq, inArray, sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import type { Database } from "../../../db/client.ts";
import { inbox, jobs } from "../../../db/schema.ts";
import { batchOf } from "./batch.ts";
import { giveUp } from "./give-up.ts";
import { readPending } from "./pending.ts";
import { answerJob } from "./work.ts";

/** The most conversations of one call. */
const mostConversations = 20;

/** Gives up messages whose job failed for good, mostly because its process died. */
export async function giveUpDead(services: Services): Promise<void> {
  const { database, log } = services;
  for (const conversationId of await findDead(database)) {
    const pending = await readPending(database.db, conversationId);
    if (!pending) continue;
    const { agent, conversation } = pending;
    const { organizationId, channel, channelId } = conversation;
    const { ids } = batchOf(pending.messages, true);
    const error = "It could not be answered: the server's log says why";
    const place = { agentId: agent.id, organizationId, conversationId, channel, channelId };
    const given = await giveUp(services, { ...place, ids, error, notice: true });
    if (given > 0) log.warn({ agent: agent.slug, channel, conversationId }, "A message was given up with its job");
  }
}

/** The conversations with messages that no job will answer, since their job failed for good. */
async function findDead({ db }: Database): Promise<string[]> {
  const failed = db
    .select({ key: jobs.key })
    .from(jobs)
    .where(and(eq(jobs.kind, answerJob.kind), eq(jobs.status, "failed")));
  const living = sql`exists (select 1 from ${jobs} living where living.kind = ${answerJob.kind}
    and living.status = 'pending' and living.key = ${inbox.conversationId}::text)`;
  const rows = await db
    .selectDistinct({ id: inbox.conversationId })
    .from(inbox)
    .where(and(eq(inbox.status, "pending"), inArray(sql`${inbox.conversationId}::text`, failed), sql`not ${living}`))
    .limit(mostConversations);
  return rows.map(({ id }) => id);
}
