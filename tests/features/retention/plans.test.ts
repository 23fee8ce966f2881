import { eq, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import type { Db } from "../../../src/db/client.ts";
import { userUsageDaily } from "../../../src/db/schema.ts";
import { eraseUsage } from "../../../src/features/analytics/erase.ts";
import { eraseConversations } from "../../../src/features/conversations/erase/erase.ts";
import { retained } from "../../../src/features/conversations/retained.ts";
import { retainedFiles } from "../../../src/features/files/retained.ts";
import { eraseMessages } from "../../../src/features/inbox/messages/erase.ts";
import { retainedMemories } from "../../../src/features/memories/index.ts";
import { retainedEvents } from "../../../src/features/room/ledger/forget.ts";
import { retainedRuns } from "../../../src/features/tasks/runs/upkeep.ts";
import { eraseTasks } from "../../../src/features/tasks/settings/erase.ts";
import { eraseTurns } from "../../../src/features/turns/end/erase.ts";
import { readOld } from "../../../src/jobs/retained-rows.ts";
import { countReads } from "../../plan.ts";
import { plant, retentionHarness } from "./world.ts";

const tables = [
  ...["conversations", "turns", "messages", "hook_executions", "files", "memories", "room_events"],
  ...["scheduled_tasks", "task_runs", "inbox", "outbox"],
];
/** More than one statement reads. */
const many = 5_100;

test("reads an agent's old rows by indexes, whatever its young rows and those of others", async () => {
  const h = await retentionHarness();
  const { db } = h;
  const { slug } = await h.agent();
  const other = await h.placeOf(slug);
  await plant(h, h.home, 400);
  await plant(h, other, 400);
  // Rows of the other agent: as old as the first one.
  await db.execute(sql`
    with c as (
      insert into conversations (id, agent_id, organization_id, ref, channel, channel_id, subject, message_count, updated_at)
      select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, ${other.agentId}, ${other.organizationId}, 'c' || n, 'web', 'c' || n, '', 1, '2020-01-01'
      from generate_series(1, ${many}) n returning id
    ), t as (
      insert into turns (id, agent_id, organization_id, conversation_id, subject, status, owner, lease_until, door, created_at)
      select gen_random_uuid(), ${other.agentId}, ${other.organizationId}, id, '', 'done', id, now(), 'native', '2020-01-01' from c
    ), hooks as (
      insert into hook_executions (id, conversation_id, turn_id, hook_id, position, event, tool_name, success, duration_ms, created_at)
      select gen_random_uuid(), id, id, id, 0, 'x', 't', true, 1, '2020-01-01' from c
    ), f as (
      insert into files (id, organization_id, agent_id, conversation_id, name, mime, size, sha256, store, storage_key, status, created_at)
      select gen_random_uuid(), ${other.organizationId}, ${other.agentId}, id, 'a', 'b', 1, '', 'directory', id::text, 'stored', '2020-01-01' from c
    ), m as (
      insert into memories (id, agent_id, organization_id, content, digest, search, updated_at)
      select gen_random_uuid(), ${other.agentId}, ${other.organizationId}, id::text, decode(md5(id::text), 'hex'), '', '2020-01-01' from c
    )
    insert into room_events (id, agent_id, organization_id, received_at, outcome)
    select gen_random_uuid(), ${other.agentId}, ${other.organizationId}, '2020-01-01', 'no-match' from c`);
  for (const table of tables) await db.execute(sql.raw(`analyze ${table}`));
  const before = new Date(Date.now() - 100 * 86_400_000);
  const limit = { agentId: h.home.agentId, now: new Date(), before };
  const all = [...retained, retainedFiles, retainedMemories, retainedEvents, retainedRuns];
  for (const rows of all) {
    await h.services.database.transaction(async (tx) => {
      // A plan for any agent would be one for half of the rows, since there are only two agents.
      await tx.execute(sql`set local plan_cache_mode = force_custom_plan`);
      const read = await countReads(tx, tables);
      const found: string[] = [];
      for await (const ids of readOld(tx, rows, limit)) found.push(...ids);
      expect([rows.subject, found.length]).toEqual([rows.subject, 1]);
      expect([rows.subject, await read()]).toSatisfy(([, count]) => count < 50);
    });
    // All rows of the other agent are found once, page by page; nearly all have the same time.
    const found: string[] = [];
    for await (const ids of readOld(db, rows, { ...limit, agentId: other.agentId })) found.push(...ids);
    const all = rows.subject === "task_runs" ? 1 : many + 1;
    expect([rows.subject, found.length, new Set(found).size]).toEqual([rows.subject, all, all]);
  }

  // An erasure at the agent, too.
  await db.execute(sql`
    insert into user_usage_daily (agent_id, day, subject, conversation_id, turns, prompt_tokens, completion_tokens)
    select ${other.agentId}, date '2020-01-01' + n % 100, 'web:' || n, gen_random_uuid(), 1, 1, 1 from generate_series(1, ${many}) n`);
  const usage = { agentId: h.home.agentId, day: "2020-01-01", turns: 1, promptTokens: 1, completionTokens: 1 };
  const mine = { ...usage, subject: "telegram:700" as const, conversationId: h.home.agentId };
  await db.insert(userUsageDaily).values([mine, { ...mine, day: "2026-01-01" }]);
  await db.execute(sql`analyze user_usage_daily`);
  const agent = { id: h.home.agentId, slug: h.home.slug, organizationId: h.home.organizationId };
  const person = { organizationId: agent.organizationId, agents: [agent], channel: "telegram", id: "700" } as const;
  const by = { actor: { type: "system", id: null, name: "erasure" }, request: { id: "", ip: "" } } as const;
  for (const erase of [eraseTurns, eraseUsage, eraseMessages, eraseTasks, eraseConversations]) {
    await h.services.database.transaction(async (tx) => {
      await tx.execute(sql`set local plan_cache_mode = force_custom_plan`);
      const read = await countReads(tx, [...tables, "user_usage_daily"]);
      const database = { ...h.services.database, db: tx, transaction: <T>(work: (tx: Db) => Promise<T>) => work(tx) };
      const { signal } = new AbortController();
      await erase({ ...h.services, database }, { ...person, digest: "", by, signal, held: new Set() });
      expect([erase.name, await read()]).toSatisfy(([, count]) => count < 50);
    });
  }
  const moved = await db
    .select()
    .from(userUsageDaily)
    .where(eq(userUsageDaily.subject, ""))
    .orderBy(userUsageDaily.day);
  expect(moved.map(({ agentId, turns }) => [agentId, turns])).toEqual([
    [h.home.agentId, 1],
    [h.home.agentId, 1],
  ]);
});
