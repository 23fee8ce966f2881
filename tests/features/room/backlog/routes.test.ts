import { asc, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../../../src/core/ids.ts";
import { type backlogStatuses, eventBacklog } from "../../../../src/db/schema.ts";
import { settleDueAt } from "../../../../src/features/room/backlog/settle.ts";
import { type Json, messageOf, withAgent } from "../operator.ts";

type Status = (typeof backlogStatuses)[number];

async function withBacklog() {
  const h = await withAgent();
  await h.put({});
  const list = async (query = "") => {
    const response = await h.call("GET", `/backlog${query}`);
    expect(response.status).toBe(200);
    return (await response.json()) as { events: Json[]; total: number };
  };
  /** Adds an entry, and sets its status and further fields. */
  const entry = async (status: Status, more: Partial<typeof eventBacklog.$inferInsert> = {}) => {
    const added = await h.add();
    if (added.outcome !== "backlog") throw new Error(added.outcome);
    await h.services.database.transaction(async (tx) => {
      await tx
        .update(eventBacklog)
        .set({ status, ...more })
        .where(eq(eventBacklog.id, added.backlogId));
      await settleDueAt(tx, h.agentRow.id, h.clock.now());
    });
    return added.backlogId;
  };
  const patch = (id: string, json: Json, as?: Record<string, string>) => h.call("PATCH", `/backlog/${id}`, json, as);
  return { ...h, list, entry, patch };
}

test("the list shows entries, the newest first, by status and in pages", async () => {
  const h = await withBacklog();
  expect(await h.list()).toEqual({ events: [], total: 0, limit: 20, offset: 0 });
  const at = h.clock.now();
  await h.add({ order: 1 });
  h.clock.jump(1_000);
  await h.add(["two"]);
  h.clock.jump(1_000);
  await h.add(null);
  const iso = (ms: number) => new Date(ms).toISOString();
  const fresh = {
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    eventDefinitionId: h.definitionId,
    status: "pending",
    completedAt: null,
    reactNotes: null,
    attempts: 0,
    error: null,
    notBefore: null,
  };
  const [third, second, first] = [
    { ...fresh, rawPayload: null, matchedAt: iso(at + 2_000) },
    { ...fresh, rawPayload: ["two"], matchedAt: iso(at + 1_000) },
    { ...fresh, rawPayload: { order: 1 }, matchedAt: iso(at) },
  ];
  expect(await h.list()).toEqual({ events: [third, second, first], total: 3, limit: 20, offset: 0 });
  expect(await h.list("?limit=1&offset=1")).toEqual({ events: [second], total: 3, limit: 1, offset: 1 });
  const [{ id } = { id: "" }] = await h.db.select().from(eventBacklog).orderBy(asc(eventBacklog.id));
  const done = { completedAt: new Date(at), reactNotes: "Sent", attempts: 2, error: "Late", notBefore: new Date(at) };
  await h.db
    .update(eventBacklog)
    .set({ ...done, status: "completed" })
    .where(eq(eventBacklog.id, id));
  const shown = { ...first, ...done, id, status: "completed", completedAt: iso(at), notBefore: iso(at) };
  expect(await h.list("?status=completed")).toEqual({ events: [shown], total: 1, limit: 20, offset: 0 });
  expect((await h.list("?status=pending")).events).toEqual([third, second]);
  for (const query of ["?status=open", "?limit=0", "?limit=101", "?offset=-1"]) {
    expect((await h.call("GET", `/backlog${query}`)).status, query).toBe(400);
  }
});

test("waiting or failed events can be discarded; failed or discarded ones can be handled again", async () => {
  const h = await withBacklog();
  const outcomes = async (status: "discarded" | "pending") => {
    const found: Json = {};
    for (const from of ["pending", "processing", "completed", "failed", "discarded"] as const) {
      const id = await h.entry(from, { attempts: 3, error: "It failed", completedAt: new Date(0), claim: newId() });
      const response = await h.patch(id, { status });
      found[from] = response.ok ? ((await response.json()) as Json).event : await messageOf(response);
    }
    return found;
  };
  const now = new Date(h.clock.now()).toISOString();
  const discarded = { status: "discarded", attempts: 3, error: "It failed", completedAt: now };
  const refusal = (names: string, is: string) => `Only an entry that is ${names} can become that: this one is ${is}`;
  expect(await outcomes("discarded")).toMatchObject({
    pending: discarded,
    failed: discarded,
    processing: refusal("pending or failed", "processing"),
    completed: refusal("pending or failed", "completed"),
    discarded: refusal("pending or failed", "discarded"),
  });
  const again = { status: "pending", attempts: 0, error: null, completedAt: null, notBefore: null };
  expect(await outcomes("pending")).toMatchObject({
    pending: refusal("failed or discarded", "pending"),
    processing: refusal("failed or discarded", "processing"),
    completed: refusal("failed or discarded", "completed"),
    failed: again,
    discarded: again,
  });
  expect(await h.stored()).toMatchObject({ pendingCount: 3, dueAt: new Date(h.clock.now()) });
  expect((await h.get()).pendingEventCount).toBe(3);
  const id = await h.entry("failed");
  for (const json of [{}, { status: "completed" }, { status: "processing" }, { status: 1 }]) {
    expect((await h.patch(id, json)).status).toBe(400);
  }
});

test("an entry is not handled again when 100 wait, nor without a Room", async () => {
  const h = await withBacklog();
  const id = await h.entry("failed");
  for (let n = 0; n < 100; n += 1) await h.add();
  const full = await h.patch(id, { status: "pending" });
  expect([full.status, await messageOf(full)]).toEqual([
    409,
    "The backlog holds 100 pending entries: discard one, or try again later",
  ]);
  expect((await h.get()).pendingEventCount).toBe(100);
  const { events } = await h.list("?status=pending&limit=1");
  expect((await h.patch(String(events[0]?.id), { status: "discarded" })).status).toBe(200);
  expect((await h.patch(id, { status: "pending" })).status).toBe(200);
  expect((await h.get()).pendingEventCount).toBe(100);
  expect(await h.add()).toEqual({ outcome: "backlog-full" });
  await h.call("DELETE");
  expect((await h.list("?status=discarded")).total).toBe(101);
  const refused = await h.patch(id, { status: "pending" });
  expect([refused.status, await messageOf(refused)]).toEqual([409, "The agent has no Room: set it up first"]);
});

test("an entry of another agent, or none, is not there; and who only reads changes nothing", async () => {
  const h = await withBacklog();
  const id = await h.entry("pending");
  const other = await h.agent();
  const foreign = `/api/instances/${other.slug}/room/backlog/${id}`;
  const json = { status: "discarded" };
  expect((await h.request(foreign, { method: "PATCH", headers: h.headers, json })).status).toBe(404);
  for (const unknown of [newId(), "nonsense"]) expect((await h.patch(unknown, json)).status).toBe(404);
  expect((await h.patch(id, json, await h.as("viewer"))).status).toBe(403);
  expect((await h.list()).events).toMatchObject([{ id, status: "pending" }]);
  expect((await h.patch(id, json, await h.as("member"))).status).toBe(200);
  expect((await h.patch(id, { status: "pending" })).status).toBe(200);
  const entries = (await h.audited()).filter(([action]) => String(action).includes("entry"));
  expect(entries).toEqual([
    ["agent.room.entry.discard", { entryId: id }],
    ["agent.room.entry.retry", { entryId: id }],
  ]);
});

test("entries go 30 days after they were over, and what waits stays", async () => {
  const h = await withBacklog();
  const day = 86_400_000;
  const over = (days: number) => ({ completedAt: new Date(h.clock.now() + days * day) });
  const kept = [await h.entry("pending"), await h.entry("failed", over(1))];
  for (const status of ["completed", "failed", "discarded"] as const) await h.entry(status, over(0));
  // The agent is inactive, so that no waiting entry is claimed.
  await h.request(`/api/instances/${h.slug}`, { method: "PATCH", headers: h.headers, json: { status: "inactive" } });
  const ids = async () => (await h.db.select().from(eventBacklog)).map(({ id }) => id).sort();
  await h.engine.tick();
  expect(await ids()).toHaveLength(5);
  await h.clock.jump(30 * day + 1);
  await h.engine.tick();
  expect(await ids()).toEqual(kept.sort());
});
