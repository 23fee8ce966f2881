import { count, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Db } from "../../db/client.ts";
import { conversations, hookExecutions, messages, toolCalls, turns } from "../../db/schema.ts";

/** The most rows of one statement: deleting all rows of a busy agent in one would exceed its deadline. */
const batchSize = 5_000;

/**
 * Deletes the conversations of an agent and all its turns. Call it in the transaction that deletes the agent and holds
 * its lock, so that no conversation is added.
 */
export async function deleteConversationsOf(tx: Db, agentId: string): Promise<void> {
  const own = tx.select({ id: conversations.id }).from(conversations).where(eq(conversations.agentId, agentId));
  // Deletes rows before those that they refer to: one look-up by a foreign key costs as much as deleting many rows.
  await deleteRows(tx, toolCalls, eq(toolCalls.agentId, agentId));
  await deleteRows(tx, turns, eq(turns.agentId, agentId));
  await deleteRows(tx, hookExecutions, inArray(hookExecutions.conversationId, own));
  await deleteRows(tx, messages, inArray(messages.conversationId, own));
  await deleteRows(tx, conversations, eq(conversations.agentId, agentId));
}

type TableWithId = PgTable & { id: PgColumn };

/** Deletes rows in batches that stay within a statement's deadline. */
export async function deleteRows(tx: Db, table: TableWithId, wanted: SQL): Promise<void> {
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
