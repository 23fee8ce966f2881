import { eq, inArray, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../../../src/core/ids.ts";
import { conversations, eventBacklog, jobs, roomEvents, turns } from "../../../../src/db/schema.ts";
import { forgetEvents } from "../../../../src/features/room/ledger/forget.ts";
import { converseJob } from "../../../../src/features/room/ledger/store.ts";
import { ledgerUpkeep } from "../../../../src/features/room/ledger/upkeep.ts";
import { explaining, sum } from "../../../plan.ts";
import { sending, sourceOf } from "../events.ts";

const [minuteMs, dayMs] = [60_000, 86_400_000];

interface Owner {
  agentId: string;
  organizationId: string;
}

async function kept() {
  const h = await sending();
  const [giveUp, forget] = ledgerUpkeep(h.services);
  if (!giveUp || !forget) throw new Error("There is no upkeep");
  /** Stores this many events without a match, a millisecond apart: the newest `ago` milliseconds ago. */
  const came = (count: number, ago: number, { agentId, organizationId }: Owner = h.source) =>
    h.db.execute(sql`
      insert into room_events (id, agent_id, organization_id, outcome, received_at)
      select gen_random_uuid(), ${agentId}::uuid, ${organizationId}::uuid, 'no-match',
        ${new Date(h.clock.now() - ago).toISOString()}::timestamptz - n * interval '1 millisecond'
      from generate_series(0, ${count - 1}::int) n`);
  return { ...h, giveUp, forget, came };
}

/** Stores unfinished events of each kind, and returns a function that finishes them. */
async function unfinished(h: Awaited<ReturnType<typeof kept>>, receivedAt: Date) {
  const { id: sourceId, agentId, organizationId } = h.source;
  const own = { agentId, organizationId };
  const event = async (row: Partial<typeof roomEvents.$inferInsert>) => {
    const id = newId();
    await h.db.insert(roomEvents).values({ ...own, ...row, id, sourceId, receivedAt });
    return id;
  };
  await event({ outcome: "pending" });
  const work = { kind: converseJob.kind, organizationId, payload: {} };
  const waits = await event({ outcome: "conversation", conversationRef: "room:waits:1" });
  const runs = await event({ outcome: "conversation", conversationRef: "room:runs:1" });
  const lockedUntil = new Date(Date.now() + dayMs);
  await h.db.insert(jobs).values([
    { ...work, id: newId(), key: waits },
    { ...work, id: newId(), key: runs, lockedBy: newId(), lockedUntil },
  ]);
  await event({ outcome: "conversation", conversationRef: "room:asks:1" });
  const [conversationId, turn] = [newId(), { id: newId(), owner: newId(), door: "room" }];
  const subject = "conversation:room:asks:1";
  const place = { ref: "room:asks:1", channel: "room", channelId: "1" };
  await h.db.insert(conversations).values({ ...own, ...place, subject, id: conversationId });
  await h.db
    .insert(turns)
    .values({ ...own, ...turn, subject, conversationId, status: "approval", leaseUntil: receivedAt });
  for (const status of ["pending", "processing"] as const) {
    const roomEventId = await event({ outcome: "backlog" });
    await h.db.insert(eventBacklog).values({ ...own, id: newId(), roomEventId, status, matchedAt: receivedAt });
  }
  return async () => {
    await h.db.update(roomEvents).set({ outcome: "no-match" }).where(eq(roomEvents.outcome, "pending"));
    await h.db.delete(jobs);
    await h.db.update(turns).set({ status: "done" });
    await h.db.update(eventBacklog).set({ status: "completed", completedAt: new Date() });
  };
}

test("a pending event whose job failed for good is given up, once and with a word in the log", async () => {
  const h = await kept();
  for (const body of ["1", "2", "3"]) await h.post(body);
  const [failed, matched, waiting] = await h.rows();
  const ofTwo = inArray(jobs.key, [failed?.id ?? "", matched?.id ?? ""]);
  await h.db.update(jobs).set({ status: "failed", failedAt: new Date() }).where(ofTwo);
  await h.db
    .update(roomEvents)
    .set({ outcome: "no-match" })
    .where(inArray(roomEvents.id, [matched?.id ?? ""]));
  await h.giveUp();
  const reason = "The matcher broke off each time that it tried: the server's log says why";
  expect(await h.rows()).toMatchObject([
    { id: failed?.id, outcome: "matcher-failed", reason },
    { id: matched?.id, outcome: "no-match", reason: null },
    { id: waiting?.id, outcome: "pending", reason: null },
  ]);
  await h.clock.jump(61_000);
  await h.giveUp();
  const told = h.logs.filter((line) => line.includes("Events were given up"));
  expect(told.map((line) => JSON.parse(line))).toMatchObject([{ level: "warn", stranded: 1 }]);
});

test("an agent keeps its newest 100,000 events, and older ones that are to be worked on yet", async () => {
  const h = await kept();
  const beside = await sourceOf(h, (await h.makeAgent()).slug);
  await h.came(3, 20 * dayMs, beside);
  const end = await unfinished(h, new Date(h.clock.now() - 20 * dayMs));
  await h.came(250, 10 * dayMs);
  for (let part = 0; part < 10; part += 1) await h.came(10_000, part * 10_000);
  await h.forget();
  const older = sql`received_at < ${new Date(h.clock.now() - dayMs).toISOString()}`;
  const left = () => h.db.select().from(roomEvents).where(older);
  expect((await left()).map(({ outcome }) => outcome).toSorted()).toEqual([
    ...["backlog", "backlog", "conversation", "conversation", "conversation"],
    ...["no-match", "no-match", "no-match", "pending"],
  ]);
  expect(await h.db.$count(roomEvents)).toBe(100_009);
  // Within 10 minutes no upkeep runs.
  await end();
  await h.forget();
  expect(await h.db.$count(roomEvents)).toBe(100_009);
  await h.clock.jump(10 * minuteMs);
  await h.forget();
  expect((await left()).map(({ agentId }) => agentId)).toEqual(Array(3).fill(beside.agentId));
  expect(await h.db.$count(roomEvents)).toBe(100_003);
}, 120_000);

test("an agent keeps its newest events whose payloads have room, as stored, and older ones that are to be worked on yet", async () => {
  const h = await kept();
  const beside = await sourceOf(h, (await h.makeAgent()).slug);
  await h.came(10_100, dayMs);
  await h.came(100, dayMs, beside);
  const end = await unfinished(h, new Date(h.clock.now() - 2 * dayMs));
  await h.db.execute(sql`update room_events set payload = to_jsonb(substr(md5(id::text), 1, 30))`);
  const [payload] = await h.db.execute<{ size: number }>(
    sql`select pg_column_size(payload) as size from room_events group by size`,
  );
  const forget = forgetEvents(h.services, 10_050 * (payload?.size ?? 0));
  const own = () => h.db.$count(roomEvents, eq(roomEvents.agentId, h.source.agentId));
  await forget();
  expect(await own()).toBe(10_050 + 6);
  await end();
  await h.clock.jump(10 * minuteMs);
  await forget();
  expect(await own()).toBe(10_050);
  const [oldest] = await h.db
    .select({ at: sql<string>`min(received_at)` })
    .from(roomEvents)
    .where(eq(roomEvents.agentId, h.source.agentId));
  expect(new Date(oldest?.at ?? 0).getTime()).toBe(h.clock.now() - 10 * minuteMs - dayMs - 10_049);
  expect(await h.db.$count(roomEvents)).toBe(10_150);
});

test("events go after 30 days, so many a call, and newer ones and what is to be worked on stay", async () => {
  const h = await kept();
  await h.came(5_500, 30 * dayMs + 1);
  await h.came(1, 30 * dayMs);
  await h.came(1, 30 * dayMs + 1, await sourceOf(h, (await h.makeAgent()).slug));
  const end = await unfinished(h, new Date(h.clock.now() - 40 * dayMs));
  await h.forget();
  const first = await h.db.$count(roomEvents);
  expect(first).toBeGreaterThan(500);
  expect(first).toBeLessThan(1_000);
  await h.forget();
  expect(await h.db.$count(roomEvents)).toBe(7);
  await end();
  await h.clock.jump(10 * minuteMs);
  await h.forget();
  expect(await h.db.$count(roomEvents)).toBe(0);
});

test("agents without events are found by an index, whatever the others have", async () => {
  const h = await kept();
  await h.came(3_000, 0);
  await h.db.execute(sql`
    insert into agents (id, organization_id, workspace_id, slug, name)
    select gen_random_uuid(), organization_id, workspace_id, 'quiet-' || n, 'Quiet' from agents, generate_series(1, 100) n`);
  await h.db.execute(sql`analyze agents, room_events`);
  const explained = explaining(h.services.database);
  await forgetEvents({ ...h.services, database: explained.database })();
  expect(sum(explained.reads("room_events").map(({ read }) => read))).toBeLessThan(100);
});
