import { and, asc, count, eq, gte, type SQL, sql } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { writeArray } from "../../db/arrays.ts";
import type { Db } from "../../db/client.ts";
import { conversations, hookExecutions, messages, toolCalls, turns } from "../../db/schema.ts";

/** The most rows of one statement: deleting all rows of a busy agent in one would exceed its deadline. */
const batchSize = 5_000;

/**
 * Deletes the conversations of an agent and all its turns. Call it in the transaction that deletes the agent and holds
 * its lock, so that no conversation is added.
 */
export async function deleteConversationsOf(tx: Db, agentId: string): Promise<void> {
  // Deletes rows before those that they refer to: one look-up by a foreign key costs as much as deleting many rows.
  await deleteRowsOf(tx, toolCalls, { agentId, since: toolCalls.createdAt });
  await deleteRowsOf(tx, turns, { agentId, since: turns.createdAt });
  for (let page = await pageOf(tx, agentId); page.length > 0; page = await pageOf(tx, agentId, page.at(-1))) {
    const own = (column: PgColumn) => sql`${column} = any(${writeArray(page)}::uuid[])`;
    await deleteRows(tx, hookExecutions, own(hookExecutions.conversationId));
    await deleteRows(tx, messages, own(messages.conversationId));
    await tx.delete(conversations).where(own(conversations.id));
  }
}

/** The most conversations of a page. */
const pageSize = 1_000;

const beforeAll = "00000000-0000-0000-0000-000000000000";

/**
 * The ids of the next conversations of an agent: one, or several that have a batch of messages together. The limit is
 * hidden from the planner, which would otherwise read those of all agents in the order of their ids.
 */
async function pageOf(tx: Db, agentId: string, after = beforeAll): Promise<string[]> {
  const { id, messageCount } = conversations;
  const rows = await tx.execute<{ id: string; messages: number }>(sql`
    select ${id} as id, ${messageCount} as messages from ${conversations}
    where ${conversations.agentId} = ${agentId} and ${id} > ${after} order by ${id} limit (select ${pageSize}::int)`);
  let sum = 0;
  const fitting = rows.filter(({ messages }, index) => {
    sum += messages;
    return index === 0 || sum < batchSize;
  });
  return fitting.map((row) => row.id);
}

type TableOfAgent = PgTable & { id: PgColumn; agentId: PgColumn };

/**
 * Deletes an agent's rows along an index of the agent and a time, in batches that stay within a statement's deadline. Each
 * batch begins where the last one ended: a transaction reads the rows that it deleted again with every statement.
 */
export async function deleteRowsOf(
  tx: Db,
  table: TableOfAgent,
  { agentId, since }: { agentId: string; since: PgColumn },
): Promise<void> {
  let from = "-infinity";
  for (;;) {
    const next = tx
      .select({ id: sql`${table.id}`.as("id"), at: sql`${since}`.as("at") })
      .from(table)
      .where(and(eq(table.agentId, agentId), gte(since, sql`${from}::timestamptz`)))
      .orderBy(asc(since))
      .limit(batchSize);
    const [batch] = await tx.execute<{ count: number; last: string | null }>(sql`
      with next as materialized (${next}), gone as (
        delete from ${table} where ${table.id} = any(array(select id from next))
      )
      select count(*)::int as count, max(at)::text as last from next`);
    if (!batch || batch.count < batchSize || batch.last === null) return;
    from = batch.last;
  }
}

type TableWithId = PgTable & { id: PgColumn };

/** Deletes rows in batches that stay within a statement's deadline. */
async function deleteRows(tx: Db, table: TableWithId, wanted: SQL): Promise<void> {
  while ((await deleteBatch(tx, table, wanted)) === batchSize);
}

/**
 * Deletes a batch and returns its number of rows. The ids are an array, so that each is looked up: with a join and old
 * statistics, PostgreSQL would read the table once for each row.
 */
async function deleteBatch(tx: Db, table: TableWithId, wanted: SQL): Promise<number> {
  const some = tx.select({ id: table.id }).from(table).where(wanted).limit(batchSize);
  const gone = tx
    .$with("gone")
    .as(tx.delete(table).where(sql`${table.id} = any(array(${some}))`).returning({ id: table.id }));
  const [batch] = await tx.with(gone).select({ deleted: count() }).from(gone);
  return batch?.deleted ?? 0;
}
