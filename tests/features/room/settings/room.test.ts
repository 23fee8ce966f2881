import { asc, eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import type { RoleKey } from "../../../../src/core/credentials/permissions.ts";
import { newId } from "../../../../src/core/ids.ts";
import { agents, conversations, eventBacklog, jobs, rooms } from "../../../../src/db/schema.ts";
import { type Json, messageOf, withAgent } from "../operator.ts";

describe("setting up", () => {
  test("the first call creates the Room, and the others change what they give", async () => {
    const h = await withAgent();
    expect(await h.get()).toEqual({ configured: false });
    await h.put({});
    const now = new Date(h.clock.now()).toISOString();
    const least = {
      configured: true,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      enabled: true,
      prompt: "",
      outboundChannel: null,
      outboundTarget: null,
      evalIntervalMinutes: 5,
      pendingEventCount: 0,
      conversationId: `room:${h.slug}:${h.clock.now()}`,
      createdAt: now,
      updatedAt: now,
    };
    expect(await h.get()).toEqual(least);
    h.clock.jump(60_000);
    const place = { outboundChannel: "telegram", outboundTarget: "4711" };
    await h.put({ prompt: "Look after orders.", evalIntervalMinutes: 30, ...place });
    const later = new Date(h.clock.now()).toISOString();
    const changed = { ...least, prompt: "Look after orders.", evalIntervalMinutes: 30, ...place, updatedAt: later };
    expect(await h.get()).toEqual(changed);
    h.clock.jump(60_000);
    await h.put({ prompt: "Look after orders.", id: newId(), pendingEventCount: 7, conversationId: "room:other:1" });
    expect(await h.get()).toEqual(changed);
    await h.put({ enabled: false, outboundChannel: null, outboundTarget: null });
    const off = { enabled: false, outboundChannel: null, outboundTarget: null };
    expect(await h.get()).toEqual({ ...changed, ...off, updatedAt: new Date(h.clock.now()).toISOString() });
  });

  test("with a prompt and an interval it is due by itself, counted from its creation", async () => {
    const h = await withAgent();
    const created = h.clock.now();
    const dueAt = async () => (await h.stored())?.dueAt?.getTime() ?? null;
    await h.put({ evalIntervalMinutes: 20 });
    expect(await dueAt()).toBe(null);
    h.clock.jump(60_000);
    await h.put({ prompt: "Look after orders." });
    expect(await dueAt()).toBe(created + 20 * 60_000);
    await h.put({ evalIntervalMinutes: 10_080 });
    expect(await dueAt()).toBe(created + 10_080 * 60_000);
    await h.put({ evalIntervalMinutes: 0 });
    expect(await dueAt()).toBe(null);
    await h.put({ evalIntervalMinutes: 1 });
    expect(await dueAt()).toBe(created + 60_000);
    await h.put({ prompt: " \n\u00a0 " });
    expect([await dueAt(), (await h.get()).prompt]).toEqual([null, ""]);
  });

  test("is refused with the reason", async () => {
    const h = await withAgent();
    const wrong: [string, Json, RegExp][] = [
      ["yes for true", { enabled: "yes" }, /^enabled: /],
      ["a long prompt", { prompt: "x".repeat(32_769) }, /^prompt: must be at most 32768 characters$/],
      ["NUL", { prompt: "a\u0000b" }, /^prompt: must not contain NUL/],
      ["a negative interval", { evalIntervalMinutes: -1 }, /^evalIntervalMinutes: must be at least 0$/],
      ["more than a week", { evalIntervalMinutes: 10_081 }, /^evalIntervalMinutes: must be at most 10080$/],
      ["half a minute", { evalIntervalMinutes: 0.5 }, /^evalIntervalMinutes: must be a whole number$/],
      ["no messenger", { outboundChannel: "web", outboundTarget: "1" }, /^outboundChannel: must be one of: /],
      ["no target", { outboundChannel: "slack" }, /^outboundTarget: Set outboundTarget too/],
      ["a blank target", { outboundChannel: "slack", outboundTarget: "  " }, /^outboundTarget: Set outboundTarget too/],
      ["no channel", { outboundTarget: "4711" }, /^outboundTarget: Set outboundChannel too/],
    ];
    for (const [what, json, message] of wrong) {
      const response = await h.call("PUT", "", json);
      expect([what, response.status]).toEqual([what, 400]);
      expect(await messageOf(response), what).toMatch(message);
    }
    expect(await h.get()).toEqual({ configured: false });
    await h.put({ outboundChannel: "slack", outboundTarget: "C1" });
    // Missing fields keep their values.
    expect((await h.call("PUT", "", { outboundTarget: null })).status).toBe(400);
    await h.put({ outboundTarget: "C2" });
    expect(await h.get()).toMatchObject({ outboundChannel: "slack", outboundTarget: "C2" });
  });
});

test("a Room that is deleted takes what waits along, and the next one has a conversation of its own", async () => {
  const h = await withAgent();
  const none = await h.call("DELETE");
  expect([none.status, await none.json()]).toEqual([200, { deleted: true }]);
  await h.put({});
  const ref = `room:${h.slug}:${h.clock.now()}`;
  const talk = {
    agentId: h.agentRow.id,
    organizationId: h.agentRow.organizationId,
    subject: `conversation:${ref}` as const,
  };
  await h.db.insert(conversations).values({ ...talk, ref, channel: "room", channelId: String(h.clock.now()) });
  for (let n = 0; n < 3; n += 1) await h.add();
  const [first, second] = await h.db.select().from(eventBacklog).orderBy(asc(eventBacklog.id));
  const set = (id: string | undefined, status: "processing" | "completed") =>
    h.db
      .update(eventBacklog)
      .set({ status })
      .where(eq(eventBacklog.id, id ?? ""));
  await set(first?.id, "processing");
  await set(second?.id, "completed");
  expect((await h.call("DELETE")).status).toBe(200);
  expect(await h.get()).toEqual({ configured: false });
  const rows = await h.db.select().from(eventBacklog).orderBy(asc(eventBacklog.id));
  const gone = ["discarded", "The Room was deleted", new Date(h.clock.now())];
  expect(rows.map(({ status, error, completedAt }) => [status, error, completedAt])).toEqual([
    gone,
    ["completed", null, null],
    gone,
  ]);
  await h.put({});
  expect(await h.get()).toMatchObject({ conversationId: `room:${h.slug}:${h.clock.now() + 1}`, pendingEventCount: 0 });
});

test("a turn can be had now while the Room and its agent are on", async () => {
  const h = await withAgent();
  const run = async () => {
    const response = await h.call("POST", "/run");
    return [response.status, response.ok ? await response.json() : await messageOf(response)];
  };
  expect(await run()).toEqual([409, "The agent has no Room: set it up first"]);
  await h.put({ enabled: false });
  expect(await run()).toEqual([409, "The Room is off: switch it on first"]);
  await h.put({ enabled: true });
  await h.request(`/api/instances/${h.slug}`, { method: "PATCH", headers: h.headers, json: { status: "inactive" } });
  expect(await run()).toEqual([409, "The agent is inactive: activate it first"]);
  await h.request(`/api/instances/${h.slug}`, { method: "PATCH", headers: h.headers, json: { status: "active" } });

  for (let n = 0; n < 3; n += 1) await h.add();
  const later = new Date(h.clock.now() + 3_600_000);
  await h.db.update(eventBacklog).set({ notBefore: later });
  const [, decided, failed] = await h.db.select().from(eventBacklog).orderBy(asc(eventBacklog.id));
  await h.db
    .update(eventBacklog)
    .set({ claim: newId() })
    .where(eq(eventBacklog.id, decided?.id ?? ""));
  await h.db
    .update(eventBacklog)
    .set({ status: "failed" })
    .where(eq(eventBacklog.id, failed?.id ?? ""));
  // No process runs the job before it was checked.
  await h.engine.stop(0);
  expect(await run()).toEqual([201, { queued: true }]);
  const [job] = await h.db.select().from(jobs).where(eq(jobs.kind, "room.evaluate"));
  expect(job).toMatchObject({ key: h.agentRow.id, payload: { agentId: h.agentRow.id, run: true }, status: "pending" });
  const rows = await h.db.select().from(eventBacklog).orderBy(asc(eventBacklog.id));
  // One waits for a decision about a call, and one is over.
  expect(rows.map(({ notBefore }) => notBefore)).toEqual([null, later, later]);
  expect(await h.stored()).toMatchObject({ pendingCount: 2, dueAt: new Date(h.clock.now()) });
});

test("everybody who may see Rooms may read it; Members and above may change it", async () => {
  const h = await withAgent();
  await h.put({});
  const rights: [RoleKey, boolean][] = [
    ["admin", true],
    ["member", true],
    ["viewer", false],
  ];
  for (const [role, writes] of rights) {
    const as = await h.as(role);
    expect((await h.call("GET", "", undefined, as)).status).toBe(200);
    const put = await h.call("PUT", "", { prompt: `By ${role}` }, as);
    expect([role, put.status]).toEqual([role, writes ? 200 : 403]);
  }
});

test("changes are in the audit log, and no process loads the agent anew for them", async () => {
  const h = await withAgent();
  const revision = async () => (await h.db.select().from(agents).where(eq(agents.id, h.agentRow.id)))[0]?.revision;
  const before = await revision();
  await h.call("DELETE");
  await h.put({ prompt: "Look after orders." });
  await h.put({ prompt: "Look after orders." });
  await h.put({ enabled: false });
  await h.put({ enabled: true });
  await h.add();
  await h.call("POST", "/run");
  await h.call("DELETE");
  expect(await h.audited()).toEqual([
    ["agent.room.update", { created: true, changes: { prompt: { from: "", to: "Look after orders." } } }],
    ["agent.room.update", { created: false, changes: { enabled: { from: true, to: false } } }],
    ["agent.room.update", { created: false, changes: { enabled: { from: false, to: true } } }],
    ["agent.room.run", {}],
    ["agent.room.delete", { discarded: 1 }],
  ]);
  expect(await revision()).toBe(before);
});

test("a Room and its backlog go with their agent", async () => {
  const h = await withAgent();
  await h.put({});
  await h.add();
  await h.request(`/api/instances/${h.slug}`, { method: "DELETE", headers: h.headers });
  expect([await h.db.$count(rooms), await h.db.$count(eventBacklog)]).toEqual([0, 0]);
});
