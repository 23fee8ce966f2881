import { eq, sql } from "drizzle-orm";
import { expect, onTestFinished, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { hookExecutions, inbox, jobs, outbox } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { eventually } from "../chat/chat.ts";
import { adaTarget, messaging, paragraphs } from "./sending.ts";

const dayMs = 24 * 60 * 60 * 1000;

test("messages that are done or given up are deleted after 30 days; those that wait stay", async () => {
  const h = await messaging();
  await h.answer("Hello");
  const [sent] = await h.allSent();
  const conversationId = sent?.conversationId ?? "";
  await h.clock.advance(60 * 60 * 1000);
  const at = (days: number) => new Date(h.clock.now() - days * dayMs);
  const left = (status: string, days: number) => ({
    ...h.place,
    id: newId(),
    body: `${status} ${days}`,
    status,
    createdAt: at(days),
  });
  const statuses = ["sent", "failed"];
  await h.db.insert(outbox).values(statuses.flatMap((status) => [left(status, 31), left(status, 29)]));
  const came = (status: string, days: number, seq: number) => ({
    agentId: h.agent.id,
    channel: "telegram",
    id: newId(),
    providerId: newId(),
    conversationId,
    seq,
    status,
    sender: adaTarget,
    payload: {},
    createdAt: at(days),
  });
  const all = ["done", "dropped", "failed", "pending"];
  await h.db
    .insert(inbox)
    .values(all.flatMap((status, index) => [came(status, 31, 2 * index), came(status, 29, 2 * index + 1)]));
  // A pending message of the inbox waits for its job, which is missing in this test.
  await h.engine.tick();
  const bodies = (await h.rows()).map(({ body }) => body);
  expect(bodies.toSorted()).toEqual(["Re: Hello", "failed 29", "sent 29"]);
  const kept = (await h.db.select().from(inbox)).map(({ status, createdAt }) => [status, createdAt]);
  expect(kept).toEqual(
    expect.arrayContaining([
      ["done", at(29)],
      ["pending", at(31)],
    ]),
  );
  expect(kept).toHaveLength(5);
});

test("it is done although other upkeep of the inbox fails", async () => {
  const h = await messaging();
  await h.answer("Hello");
  const [sent] = await h.allSent();
  const conversationId = sent?.conversationId ?? "";
  const createdAt = new Date(h.clock.now() - 31 * dayMs);
  await h.clock.advance(60 * 60 * 1000);
  await h.db.insert(outbox).values({ ...h.place, id: newId(), body: "Old", status: "sent", createdAt });
  // A message whose job is dead, and which can't be given up now.
  const waiting = { id: newId(), providerId: "1", conversationId, seq: 1, sender: adaTarget, payload: {} };
  await h.db.insert(inbox).values({ ...waiting, agentId: h.agent.id, channel: "telegram" });
  const job = { id: newId(), kind: "inbox.answer", key: conversationId, payload: {}, runAt: new Date() };
  await h.db.insert(jobs).values({ ...job, status: "failed", failedAt: new Date() });
  const { database } = h.services;
  const transaction = () => Promise.reject(new Error("No transaction"));
  const failing = { ...database, db: database.db, query: database.query.bind(database), transaction };
  const engine = createEngine({ ...h.services, database: failing });
  onTestFinished(() => engine.stop(0));
  await expect(engine.tick()).rejects.toThrow("No transaction");
  expect((await h.rows()).map(({ body }) => body)).toEqual(["Re: Hello"]);
});

test("a message whose job failed for good is given up, and not before an hour", async () => {
  const h = await messaging();
  const hour = sql`${new Date(h.clock.now() - 61 * 60_000).toISOString()}::timestamptz`;
  await h.db.insert(outbox).values({ ...h.place, id: newId(), body: "Stranded", createdAt: hour });
  await h.db.insert(outbox).values({ ...h.place, id: newId(), target: "1", body: "New" });
  await h.db
    .insert(outbox)
    .values({ ...h.place, id: newId(), target: "2", body: "Waits for its job", createdAt: hour });
  const key = `${h.agent.id}:telegram:2`;
  const later = new Date(h.clock.now() + dayMs);
  await h.db.insert(jobs).values({ id: newId(), kind: "outbox.send", key, payload: {}, runAt: later });
  await h.engine.tick();
  const rows = await h.rows();
  expect(rows.map(({ body, status, error }) => [body, status, error]).toSorted()).toEqual([
    ["New", "pending", null],
    ["Stranded", "failed", "The server failed each time that it tried to send it"],
    ["Waits for its job", "pending", null],
  ]);
  expect(h.logs.some((line) => line.includes("Messages were given up: their jobs failed"))).toBe(true);
});

test("the hooks of a reply run once it was sent whole, in a job of their own", async () => {
  const h = await messaging();
  const json = {
    event: "response_sent",
    actionConfig: { toolName: "setState", args: { key: "sent", value: "{{response.text}}" } },
  };
  const { slug, headers } = h.agent;
  expect((await h.request(`/api/instances/${slug}/hooks`, { method: "POST", headers, json })).status).toBe(201);
  h.telegram.fail("sendMessage", { status: 429, json: { ok: false, parameters: { retry_after: 5 } } });
  const turnId = await h.answer(paragraphs(5));
  await h.settled(([row]) => row?.retryAt != null);
  expect(await h.db.$count(hookExecutions)).toBe(0);
  await h.clock.advance(7_000);
  await h.allSent();
  await eventually(async () => {
    await h.engine.tick();
    return (await h.db.$count(hookExecutions)) === 1;
  });
  const ran = await h.db.select().from(hookExecutions);
  expect(ran).toMatchObject([{ turnId, event: "response_sent", success: true }]);
  await eventually(async () => (await h.db.$count(jobs, eq(jobs.kind, "outbox.sent"))) === 0);
});

test("doctor counts what was given up in the last day", async () => {
  const h = await messaging();
  const at = (hours: number) => new Date(h.clock.now() - hours * 60 * 60_000);
  const left = (status: string, hours: number) => ({
    ...h.place,
    id: newId(),
    body: "x",
    status,
    createdAt: at(hours),
    error: status === "failed" ? `Refused ${hours} hours ago` : null,
  });
  await h.db.insert(outbox).values([left("failed", 1), left("failed", 23), left("failed", 25), left("sent", 1)]);
  expect((await h.engine.inspect()).messages).toEqual({
    unanswered: 0,
    unsent: 2,
    lastUnsent: { slug: "support", channel: "telegram", error: "Refused 1 hours ago" },
  });
});
