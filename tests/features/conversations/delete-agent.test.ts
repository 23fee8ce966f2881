import { eq, ne, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import type { Db } from "../../../src/db/client.ts";
import { conversations, hookExecutions, messages, toolCalls, turns } from "../../../src/db/schema.ts";
import { deleteConversationsOf } from "../../../src/features/conversations/delete-all.ts";
import { conversationHarness, plant } from "./conversations.ts";

const tables = [conversations, turns, messages, toolCalls, hookExecutions];

test("an agent with more turns than one statement deletes takes all of them along, and nothing of another's", async () => {
  const h = await conversationHarness();
  const other = await h.anotherAgent();
  const headers = { Authorization: `Bearer ${other.key}` };
  await h.complete("Hello", { chat_id: "kept", model: other.slug }, { headers });
  await h.say("Hello");
  await plant(h, ["one", "two"]);
  const [own] = await h.db
    .select()
    .from(turns)
    .where(ne(turns.subject, `conversation:${other.slug}:web:api-kept`));
  if (!own?.conversationId) throw new Error("There is no turn");
  await h.db.execute(sql`
    insert into turns (id, agent_id, organization_id, conversation_id, subject, ticket, status, owner, lease_until, door)
    select gen_random_uuid(), agent_id, organization_id, conversation_id, subject, 1 + n, 'done', owner, now(), door
    from turns, generate_series(1, 5001) n where id = ${own.id}`);
  await h.db.execute(sql`
    insert into messages (id, conversation_id, turn_id, seq, role, content)
    select gen_random_uuid(), conversation_id, id, 10 + ticket, 'user', 'Hi' from turns where agent_id = ${own.agentId}`);
  await h.db.execute(sql`
    insert into tool_calls (id, turn_id, agent_id, tool_call_id, name, status)
    select gen_random_uuid(), id, agent_id, 't', 't', 'executed' from turns where agent_id = ${own.agentId}`);
  await h.db.execute(sql`
    insert into hook_executions (id, conversation_id, turn_id, hook_id, position, event, tool_name, success, duration_ms)
    select gen_random_uuid(), conversation_id, id, id, 0, 'x', 't', true, 1 from turns where agent_id = ${own.agentId}`);

  const response = await h.request(`/api/instances/${h.agent.slug}`, { method: "DELETE", headers: h.agent.headers });
  expect(await response.json()).toEqual({ deleted: true });
  const left = await Promise.all(tables.map((table) => h.db.$count(table)));
  expect(left).toEqual([1, 1, 2, 0, 0]);
  expect(await h.db.$count(conversations, eq(conversations.ref, `${other.slug}:web:api-kept`))).toBe(1);
});

test("a busy agent's rows are each read once, however many statements delete them", async () => {
  const h = await conversationHarness();
  await h.say("Hello");
  const [own] = await h.db.select().from(turns);
  if (!own) throw new Error("There is no turn");
  const rows = 15_001;
  await h.db.execute(sql`
    insert into conversations (id, agent_id, organization_id, ref, channel, channel_id, subject, message_count)
    select gen_random_uuid(), agent_id, organization_id, 'many-' || n, channel, channel_id, subject, 101
    from conversations, generate_series(0, 149) n`);
  await h.db.execute(sql`
    insert into turns (id, agent_id, organization_id, subject, status, owner, lease_until, door, created_at)
    select gen_random_uuid(), agent_id, organization_id, subject, 'done', owner, now(), door,
      now() + n * interval '1 millisecond'
    from turns, generate_series(1, ${rows}) n`);
  await h.db.execute(sql`
    insert into messages (id, conversation_id, seq, role, content)
    select gen_random_uuid(), id, n, 'user', 'Hi' from conversations, generate_series(1, 101) n where ref like 'many-%'`);
  await h.db.execute(sql`analyze`);

  const read = await h.services.database.transaction(async (tx) => {
    const before = await entriesRead(tx);
    await deleteConversationsOf(tx, own.agentId);
    return (await entriesRead(tx)) - before;
  });
  expect([await h.db.$count(turns), await h.db.$count(messages)]).toEqual([0, 0]);
  // Once to find each row, and once to delete it by its id.
  expect(read).toBeLessThan(3 * 2 * rows);
});

/** The rows and index entries that this connection has read; entries also of rows that its transaction deleted. */
async function entriesRead(tx: Db): Promise<number> {
  const [row] = await tx.execute<{ entries: number }>(sql`
    select sum(pg_stat_get_xact_tuples_returned(oid))::int as entries from pg_class
    where oid = any(array['turns', 'messages']::regclass[])
      or oid in (select indexrelid from pg_index where indrelid = any(array['turns', 'messages']::regclass[]))`);
  return row?.entries ?? 0;
}

test("deleting an agent finds the rows that refer to it by an index", async () => {
  const h = await conversationHarness();
  const unindexed = await h.db.execute<{ table: string }>(sql`
    select conrelid::regclass::text as table from pg_constraint
    where contype = 'f' and confrelid = any(array['agents', 'conversations', 'turns']::regclass[]) and not exists (
      select from pg_index where indrelid = conrelid and indkey[0] = conkey[1]
        and coalesce(pg_get_expr(indpred, indrelid) ~ ('^[(]' || (
          select attname from pg_attribute where attrelid = conrelid and attnum = conkey[1]) || ' IS NOT NULL[)]$'), true))`);
  // It has a row for each background call that runs.
  expect(unindexed.map(({ table }) => table)).toEqual(["budget_holds"]);
});
