import { sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import type { Db } from "../../../db/client.ts";
import { conversations, messages, turns } from "../../../db/schema.ts";
import { batchesOf, type ErasedAgent, type ErasedPerson, isOneOf, isSubject } from "../../../jobs/erased-rows.ts";
import { isOwn } from "./own.ts";
import { erasePart, type Found } from "./part.ts";

/** The most messages that one statement looks at. */
const pageSize = 2_000;

/**
 * Deletes the turns of groups that name the person, as the speaker or in a quote, with the agent's replies. Title,
 * summary and what the agent learned there go too, since they may be from these turns.
 */
export async function eraseInGroups(services: Services, person: ErasedPerson, agent: ErasedAgent): Promise<void> {
  const { db } = services.database;
  const where = sql`${conversations.channel} = ${person.channel} and ${conversations.messageCount} > 0
    and not ${isOwn(person, agent)}`;
  const wanted = { table: conversations, along: conversations.id, agentId: agent.id, where };
  for await (const ids of batchesOf(db, person, wanted)) {
    for (const id of ids) await erasePart(services, person, id, await findNaming(db, id, person.id));
  }
}

/** The same for the person's turns in the conversation of somebody else, such as a chat that two people share. */
export async function eraseShared(services: Services, person: ErasedPerson, agent: ErasedAgent): Promise<void> {
  const { db } = services.database;
  const { id, conversationId } = turns;
  const where = sql`${isSubject(turns.subject, person, agent)} and ${conversationId} is not null`;
  const wanted = { table: turns, along: turns.createdAt, agentId: agent.id, where };
  for await (const ids of batchesOf(db, person, wanted)) {
    const rows = await db
      .select({ id, conversationId })
      .from(turns)
      .where(isOneOf(id, ids, "uuid"));
    for (const [conversation, own] of Map.groupBy(rows, (turn) => turn.conversationId)) {
      if (conversation === null) continue;
      await erasePart(services, person, conversation, { turnIds: own.map((turn) => turn.id), messageIds: [] });
    }
  }
}

/** Finds the person's id as a whole word, in pages of one conversation. */
async function findNaming(db: Db, conversationId: string, personId: string): Promise<Found> {
  const { id, turnId, seq, content } = messages;
  const word = `(^|[^[:alnum:]])${personId.replaceAll(/[^A-Za-z0-9]/g, "\\$&")}($|[^[:alnum:]])`;
  const found: Found = { turnIds: [], messageIds: [] };
  for (let page = { read: pageSize, last: 0 }; page.read === pageSize; ) {
    const [row] = await db.execute<{ read: number; last: number; turns: string[]; ids: string[] }>(sql`
      with page as materialized (
        select ${id} as id, ${turnId} as turn_id, ${seq} as seq, ${content} as content from ${messages}
        where ${messages.conversationId} = ${conversationId} and ${seq} > ${page.last} order by ${seq} limit ${pageSize}
      ), named as (
        select id, turn_id from page where strpos(content, ${personId}) > 0 and content ~ ${word}
      )
      select (select count(*)::int from page) as read, (select coalesce(max(seq), 0) from page) as last,
        (select coalesce(json_agg(distinct turn_id) filter (where turn_id is not null), '[]') from named) as turns,
        (select coalesce(json_agg(id) filter (where turn_id is null), '[]') from named) as ids`);
    if (!row) break;
    found.turnIds.push(...row.turns);
    found.messageIds.push(...row.ids);
    page = row;
  }
  return found;
}
