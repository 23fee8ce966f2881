import { type SQL, sql } from "drizzle-orm";
import type { Db } from "../../db/client.ts";

/** So many rows a statement deletes: one for all that a busy agent leaves would outlast its deadline. */
const batch = 5_000;

/**
 * Deletes the conversations of an agent and all its turns, inside the transaction that deletes the agent, which has to be
 * locked so that none are added.
 */
export async function deleteConversationsOf(tx: Db, agentId: string): Promise<void> {
  const own = sql`select id from conversations where agent_id = ${agentId}`;
  const parts: Record<string, SQL> = {
    // What depends on a row goes before it: each row looked for by a foreign key costs as much as deleting many.
    tool_calls: sql`agent_id = ${agentId}`,
    turns: sql`agent_id = ${agentId}`,
    hook_executions: sql`conversation_id in (${own})`,
    messages: sql`conversation_id in (${own})`,
    conversations: sql`agent_id = ${agentId}`,
  };
  for (const [table, wanted] of Object.entries(parts)) {
    while ((await deleteSome(tx, sql.raw(table), wanted)) === batch);
  }
}

async function deleteSome(tx: Db, table: SQL, wanted: SQL): Promise<number> {
  const [row] = await tx.execute<{ count: number }>(sql`
    with gone as (
      delete from ${table} where id in (select id from ${table} where ${wanted} limit ${batch}) returning 1
    )
    select count(*)::int as count from gone`);
  return row?.count ?? 0;
}
