import { eq, ne, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { conversations, hookExecutions, messages, toolCalls, turns } from "../../../src/db/schema.ts";
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
