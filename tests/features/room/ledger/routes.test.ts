import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../../../src/core/ids.ts";
import { auditLogs, eventBacklog, eventSources, jobs, roomEvents } from "../../../../src/db/schema.ts";
import { sending, sourceOf } from "../events.ts";

/** An agent with events, and calls of the ledger's routes. */
async function ledger() {
  const h = await sending();
  const path = `/api/instances/${h.agent.slug}/room/events`;
  const get = async (query = "", headers = h.agent.headers, of = path) => {
    const response = await h.request(`${of}${query}`, { headers });
    return { status: response.status, body: await response.json() };
  };
  const replay = async (id: string, headers = h.agent.headers, of = path) => {
    const response = await h.request(`${of}/${id}/replay`, { method: "POST", headers });
    return { status: response.status, body: await response.json() };
  };
  const agent2 = async () => (await h.makeAgent()).slug;
  const one = async () => (await h.rows()).at(-1)?.id ?? "";
  return { ...h, path, get, replay, one, agent2 };
}

test("the ledger shows what came, the newest first, and by page, outcome and source", async () => {
  const h = await ledger();
  const other = await sourceOf(h, h.agent.slug);
  for (const body of ['"1"', "2"]) await h.post(body);
  await h.clock.jump(1_000);
  await h.post("{");
  await h.post("3", {}, other.token);
  const { status, body } = await h.get();
  expect([status, body.total, body.limit, body.offset]).toEqual([200, 4, 20, 0]);
  expect(body.events.map(({ payload }: { payload: unknown }) => payload)).toEqual([3, "{", 2, "1"]);
  const [, first] = await h.rows();
  expect(body.events[2]).toEqual({
    id: first?.id,
    eventSourceId: h.source.id,
    receivedAt: "2026-01-01T00:00:00.000Z",
    payload: 2,
    verdicts: [],
    outcome: "pending",
    definitionId: null,
    reason: null,
    conversationId: null,
    backlogId: null,
    replayOf: null,
  });
  const shown = async (query: string) => {
    const { body } = await h.get(query);
    return [body.total, ...body.events.map(({ payload }: { payload: unknown }) => payload)];
  };
  expect(await shown("?limit=1&offset=2")).toEqual([4, 2]);
  expect(await shown("?offset=9")).toEqual([4]);
  expect(await shown("?outcome=invalid-payload")).toEqual([1, "{"]);
  expect(await shown(`?eventSourceId=${other.id}`)).toEqual([1, 3]);
  expect(await shown(`?eventSourceId=${other.id}&outcome=no-match`)).toEqual([0]);
  for (const query of ["?outcome=odd", "?eventSourceId=x", "?limit=101", "?limit=0", "?offset=-1"]) {
    expect([query, (await h.get(query)).status]).toEqual([query, 400]);
  }
});

test("one event is found by its id, and only by its own agent", async () => {
  const h = await ledger();
  await h.post('{"a":1}');
  const id = await h.one();
  expect((await h.get(`/${id}`)).body.event).toMatchObject({ id, payload: { a: 1 }, outcome: "pending" });
  for (const unknown of [newId(), "x", "%00"]) expect((await h.get(`/${unknown}`)).status).toBe(404);
  const beside = await h.agent2();
  expect((await h.get(`/${id}`, h.agent.headers, `/api/instances/${beside}/room/events`)).status).toBe(404);
  const stranger = await h.as("owner", { organization: await h.createOrganization("other") });
  for (const query of ["", `/${id}`]) expect((await h.get(query, stranger)).status).toBe(404);
  expect((await h.replay(id, stranger)).status).toBe(404);
  const viewer = await h.as("viewer");
  expect((await h.get("", viewer)).status).toBe(200);
  expect((await h.replay(id, viewer)).status).toBe(403);
});

test("a replay is a new event with the same payload, also while the source is off", async () => {
  const h = await ledger();
  await h.post("null");
  const id = await h.one();
  await h.db.update(eventSources).set({ enabled: false }).where(eq(eventSources.id, h.source.id));
  await h.db.delete(jobs);
  await h.clock.jump(60_000);
  const { status, body } = await h.replay(id);
  expect(status).toBe(201);
  const [, made] = await h.rows();
  expect(made).toMatchObject({ id: body.id, payload: null, outcome: "pending", replayOf: id, sourceId: h.source.id });
  expect(made?.receivedAt).toEqual(new Date(h.clock.now()));
  expect(await h.work()).toMatchObject([{ key: body.id }]);
  const entries = await h.db.select().from(auditLogs).where(eq(auditLogs.action, "agent.room.event.replay"));
  expect(entries).toMatchObject([
    { target: h.agent.slug, agentId: h.source.agentId, summary: { eventId: id, newEventId: body.id } },
  ]);
});

test("an unreadable event, or one whose source was deleted, can't be replayed", async () => {
  const h = await ledger();
  await h.post("{");
  const unread = await h.one();
  await h.post("1");
  const orphan = await h.one();
  expect(await h.replay(unread)).toMatchObject({
    status: 409,
    body: { message: "This event can't be replayed: invalid payload" },
  });
  await h.db.delete(eventSources);
  const { status, body } = await h.replay(orphan);
  expect([status, body.message]).toEqual([409, "The source of this event was deleted, and its definitions with it"]);
  expect((await h.get(`/${orphan}`)).body.event.eventSourceId).toBeNull();
  expect(await h.rows()).toHaveLength(2);
});

test("with its agent the ledger is deleted", async () => {
  const h = await ledger();
  await h.post("1");
  const roomEventId = await h.one();
  const { agentId, organizationId } = h.source;
  await h.db.insert(eventBacklog).values({ agentId, organizationId, roomEventId, matchedAt: new Date() });
  const init = { method: "DELETE", headers: h.agent.headers };
  expect((await h.request(`/api/instances/${h.agent.slug}`, init)).status).toBe(200);
  expect([await h.db.$count(roomEvents), await h.db.$count(eventBacklog)]).toEqual([0, 0]);
});
