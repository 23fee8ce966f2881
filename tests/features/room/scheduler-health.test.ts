import { sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { agents, jobs, rooms } from "../../../src/db/schema.ts";
import { harness } from "../../harness.ts";
import { spyOnStatements } from "../../statements.ts";

async function asking() {
  const h = await harness();
  const { db } = h.services.database;
  const ask = async () => {
    const response = await h.request("/health/scheduler");
    return { code: response.status, ...((await response.json()) as Record<string, unknown>) };
  };
  return { ...h, db, ask };
}

test("a process that looks for due work every 30 seconds is well, without credentials", async () => {
  const h = await asking();
  await h.engine.boot({});
  const quiet = { slots: { total: 4, free: 4 }, pending: 0, stuckRuns: 0 };
  expect(await h.ask()).toEqual({ code: 200, status: "ok", ...quiet, lastTickAt: null });
  await h.engine.tick();
  const lastTickAt = new Date(h.clock.now()).toISOString();
  expect(await h.ask()).toEqual({ code: 200, status: "ok", ...quiet, lastTickAt });
  await h.clock.jump(120_000);
  expect(await h.ask()).toMatchObject({ code: 200, status: "ok", lastTickAt });
  await h.clock.jump(1);
  expect(await h.ask()).toMatchObject({ code: 503, status: "stalled", lastTickAt });
  await h.engine.tick();
  expect(await h.ask()).toMatchObject({ code: 200, status: "ok" });
});

test("a process that never looked is stalled two minutes after its start", async () => {
  const h = await asking();
  await h.clock.jump(600_000);
  await h.engine.boot({});
  await h.clock.jump(120_000);
  expect(await h.ask()).toMatchObject({ code: 200 });
  await h.clock.jump(1);
  expect(await h.ask()).toMatchObject({ code: 503, status: "stalled", lastTickAt: null });
});

test("waiting and hanging events are counted, for all agents", async () => {
  const h = await asking();
  const run = (kind: string, lockedMs: number | null) => ({
    id: newId(),
    kind,
    key: newId(),
    lockedBy: lockedMs === null ? null : newId(),
    lockedUntil: lockedMs === null ? null : sql`now() + ${lockedMs / 1000} * interval '1 second'`,
    runAt: new Date(h.clock.now() + 3_600_000),
  });
  await h.db
    .insert(jobs)
    .values([
      run("room.evaluate", -61_000),
      run("room.converse", -3_600_000),
      run("task.run", -61_000),
      run("task.run", -30_000),
      run("room.evaluate", 20_000),
      run("inbox.answer", -61_000),
      run("room.evaluate", null),
    ]);
  for (const pendingCount of [2, 0, 5]) {
    const { slug } = await h.agent();
    const [agent] = (await h.db.select().from(agents)).filter((one) => one.slug === slug);
    const { id, organizationId } = agent ?? { id: "", organizationId: "" };
    const room = { agentId: id, id, organizationId, conversationRef: `room:${slug}:1`, pendingCount };
    await h.db.insert(rooms).values(room);
  }
  expect(await h.ask()).toMatchObject({ code: 200, pending: 7, stuckRuns: 3 });
});

test("the database is asked once in 5 seconds, however many strangers ask", async () => {
  const h = await asking();
  const { texts } = spyOnStatements(h.services.database);
  await Promise.all(Array.from({ length: 50 }, h.ask));
  await h.clock.jump(4_999);
  await h.ask();
  expect(texts()).toHaveLength(1);
  await h.clock.jump(1);
  await h.ask();
  expect(texts()).toHaveLength(2);
});

test("the database is asked at once when the time was set back since it answered", async () => {
  const h = await asking();
  const { texts } = spyOnStatements(h.services.database);
  await h.ask();
  h.clock.setBack(60 * 60_000);
  await h.ask();
  expect(texts()).toHaveLength(2);
});

test("a database that is away makes it unwell, and says no more than that", async () => {
  const h = await asking();
  await h.engine.tick();
  const spy = spyOnStatements(h.services.database);
  spy.failWith(new Error("connect ECONNREFUSED 10.1.2.3"));
  const lastTickAt = new Date(h.clock.now()).toISOString();
  const unknown = { slots: { total: 4, free: 4 }, pending: null, stuckRuns: null };
  expect(await h.ask()).toEqual({ code: 503, status: "stalled", ...unknown, lastTickAt });
  expect(h.logs.join()).toContain("The scheduler's health could not be read");
  spy.restore();
  await h.clock.jump(5_000);
  expect(await h.ask()).toMatchObject({ code: 200, status: "ok" });
});
