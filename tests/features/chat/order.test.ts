import { eq, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { conversations, turns } from "../../../src/db/schema.ts";
import { plainText } from "../../plain-text.ts";
import { finish, gate, reply, scriptedModel, text } from "../../scripted-model.ts";
import { type ChatHarness, chatHarness, eventually, readEvents } from "./chat.ts";

const queued = (h: ChatHarness, count: number) =>
  eventually(async () => (await h.stored()).turns.filter(({ status }) => status === "queued").length === count);

/** Inserts an open turn of another process into the conversation; `lease` says whether that process is alive. */
async function leaveOpen(h: ChatHarness, lease: string, status: "running" | "queued" = "running") {
  const { db } = h.services.database;
  const [conversation] = await db
    .update(conversations)
    .set({ openTurns: sql`open_turns + 1`, lastTicket: sql`last_ticket + 1` })
    .returning();
  if (!conversation) throw new Error("There is no conversation yet");
  const id = newId();
  await db.insert(turns).values({
    id,
    agentId: conversation.agentId,
    organizationId: conversation.organizationId,
    conversationId: conversation.id,
    subject: "web:x",
    ticket: conversation.lastTicket,
    status,
    owner: newId(),
    leaseUntil: sql`now() + ${lease}::interval` as never,
    door: "completions",
  });
  return id;
}

test("turns of one conversation run one after the other, in the order of arrival, each with the one before in its history", async () => {
  const first = gate();
  const model = scriptedModel((_call, index) =>
    index === 0 ? { parts: [first.promise, text("r0"), finish()] } : reply(`r${index}`),
  );
  const h = await chatHarness(model);
  const asked = [h.complete("q0", { chat_id: "c" })];
  await model.called(1);
  for (const n of [1, 2, 3]) {
    asked.push(h.complete(`q${n}`, { chat_id: "c" }));
    await queued(h, n);
  }
  expect(model.calls).toHaveLength(1);
  first.open();
  await Promise.all(asked);

  const {
    messages,
    turns: rows,
    conversations: [conversation],
  } = await h.stored();
  expect(messages.map(({ content }) => content)).toEqual(["q0", "r0", "q1", "r1", "q2", "r2", "q3", "r3"]);
  expect(rows.map(({ ticket, status }) => [ticket, status])).toEqual([
    [1, "done"],
    [2, "done"],
    [3, "done"],
    [4, "done"],
  ]);
  expect(conversation).toMatchObject({ openTurns: 0, lastTicket: 4, lastSeq: 8, messageCount: 8 });
  expect(model.calls[3]?.prompt).toHaveLength(8);
});

test("other conversations never wait", async () => {
  const held = gate();
  const model = scriptedModel((_call, index) =>
    index === 0 ? { parts: [held.promise, text("late"), finish()] } : reply("soon"),
  );
  const h = await chatHarness(model);
  const slow = h.complete("a", { chat_id: "a" });
  await model.called(1);
  expect((await h.complete("b", { chat_id: "b" })).status).toBe(200);
  held.open();
  expect((await slow).status).toBe(200);
});

test("sixteen wait; the next one is a 429, on both doors", async () => {
  const held = gate();
  const model = scriptedModel((_call, index) =>
    index === 0 ? { parts: [held.promise, text("0"), finish()] } : reply("x"),
  );
  const h = await chatHarness(model);
  const asked = [h.complete("q", { chat_id: "c" })];
  await model.called(1);
  for (let n = 0; n < 16; n += 1) asked.push(h.complete("q", { chat_id: "c" }));
  await queued(h, 16);

  const message = "Too many turns wait in this conversation";
  const refused = await h.complete("q", { chat_id: "c" });
  expect(await refused.json()).toMatchObject({ statusCode: 429, message });
  for (const header of ["Retry-After", "X-RateLimit-Limit", "X-RateLimit-Reset"]) {
    expect(Number(refused.headers.get(header))).toBeGreaterThan(0);
  }
  const native = await readEvents(await h.native("q", { chat_id: "c" }));
  expect(native.map(({ event, data }) => [event, data])).toEqual([
    ["error", { message }],
    ["done", { conversationId: null, messageId: null }],
  ]);
  held.open();
  expect((await Promise.all(asked)).every(({ status }) => status === 200)).toBe(true);
  expect((await h.stored()).conversations[0]).toMatchObject({ openTurns: 0, messageCount: 34 });
});

test("a call that leaves while it waits is dropped, and the queue advances", async () => {
  const held = gate();
  const model = scriptedModel((_call, index) =>
    index === 0 ? { parts: [held.promise, text("0"), finish()] } : reply("x"),
  );
  const h = await chatHarness(model);
  const first = h.complete("first", { chat_id: "c" });
  await model.called(1);
  const leaver = new AbortController();
  const left = h.complete("left", { chat_id: "c" }, { signal: leaver.signal }).catch(() => null);
  await queued(h, 1);
  const last = h.native("last", { chat_id: "c" });
  await queued(h, 2);
  leaver.abort();
  await left;
  await queued(h, 1);
  held.open();
  await first;
  await readEvents(await last);
  expect((await h.stored()).messages.filter(({ role }) => role === "user").map(({ content }) => content)).toEqual([
    "first",
    "last",
  ]);
  expect(model.calls).toHaveLength(2);
});

test("a turn whose process died is lost, and the one behind it runs at once", async () => {
  const h = await chatHarness(scriptedModel(() => reply("ok")));
  await h.complete("one", { chat_id: "c" });
  const dead = await leaveOpen(h, "-1 second");
  expect((await h.complete("two", { chat_id: "c" })).status).toBe(200);
  const {
    turns: rows,
    conversations: [conversation],
  } = await h.stored();
  expect(rows.find(({ id }) => id === dead)?.status).toBe("lost");
  expect(conversation).toMatchObject({ openTurns: 0, messageCount: 4 });
});

test("a turn that lives on another replica is waited for", async () => {
  const model = scriptedModel(() => reply("ok"));
  const h = await chatHarness(model);
  await h.complete("one", { chat_id: "c" });
  const other = await leaveOpen(h, "30 seconds");
  const waits = h.complete("two", { chat_id: "c" });
  await queued(h, 1);
  await h.clock.advance(300);
  expect(model.calls).toHaveLength(1);

  const { db } = h.services.database;
  await db.update(turns).set({ status: "done" }).where(eq(turns.id, other));
  await db.update(conversations).set({ openTurns: sql`open_turns - 1` });
  await eventually(async () => {
    await h.clock.advance(300);
    return model.calls.length === 2;
  });
  expect((await waits).status).toBe(200);
});

test("a crowd of dead turns blocks no new one", async () => {
  const h = await chatHarness(scriptedModel(() => reply("ok")));
  await h.complete("one", { chat_id: "c" });
  for (let n = 0; n < 17; n += 1) await leaveOpen(h, "-1 second", n === 0 ? "running" : "queued");
  expect((await h.complete("two", { chat_id: "c" })).status).toBe(200);
  expect((await h.stored()).conversations[0]).toMatchObject({ openTurns: 0 });
});

test("upkeep renews the leases of living turns and closes dead ones", async () => {
  const held = gate();
  const model = scriptedModel((_call, index) =>
    index === 0 ? { parts: [held.promise, text("x"), finish()] } : reply("x"),
  );
  const h = await chatHarness(model);
  const asked = h.complete("q", { chat_id: "c" });
  await model.called(1);
  await h.services.database.db.update(turns).set({ leaseUntil: sql`now() + interval '10 seconds'` as never });
  const dead = await leaveOpen(h, "-1 second");
  await h.engine.renewLeases();
  await h.engine.tick();

  const { turns: rows } = await h.stored();
  const alive = rows.find(({ status }) => status === "running");
  expect((alive?.leaseUntil.getTime() ?? 0) - Date.now()).toBeGreaterThan(20_000);
  expect(rows.find(({ id }) => id === dead)?.status).toBe("lost");
  held.open();
  expect((await asked).status).toBe(200);
});

test("a turn that begins while the leases are renewed keeps its own", async () => {
  const held = gate();
  const renewing = gate();
  const model = scriptedModel(() => ({ parts: [text("some"), held.promise, text(" more"), finish()] }));
  const h = await chatHarness(model);
  const other = h.complete("q", { chat_id: "other" });
  await model.called(1);
  const { database } = h.services;
  const { query } = database;
  database.query = async (sql, parameters) => {
    const rows = await query(sql, parameters);
    if (plainText(sql).includes("set lease_until")) await renewing.promise;
    return rows as never;
  };
  const renewal = h.engine.renewLeases();
  const asked = h.complete("q", { chat_id: "c" });
  await model.called(2);
  renewing.open();
  await renewal;
  held.open();
  expect((await other).status).toBe(200);
  expect(await (await asked).json()).toMatchObject({ choices: [{ message: { content: "some more" } }] });
});

test("a turn whose lease was lost stops and writes nothing", async () => {
  const held = gate();
  const model = scriptedModel([{ parts: [text("some"), held.promise, text("more"), finish()] }]);
  const h = await chatHarness(model);
  const response = await h.complete("q", { chat_id: "c", stream: true });
  const { db } = h.services.database;
  await db.update(turns).set({ status: "lost" });
  await db.update(conversations).set({ openTurns: 0 });
  await h.engine.renewLeases();
  const body = await response.text();

  expect(body).toContain('"error"');
  expect(body).not.toContain('"stop"');
  expect(model.calls[0]?.options.abortSignal?.aborted).toBe(true);
  const {
    messages,
    conversations: [conversation],
  } = await h.stored();
  expect(messages).toEqual([]);
  expect(conversation).toMatchObject({ openTurns: 0 });
});

test("a stop that another replica asked for ends the turn and keeps what was said", async () => {
  const held = gate();
  const h = await chatHarness(scriptedModel([{ parts: [text("some"), held.promise, finish()] }]));
  const response = await h.native("q", { chat_id: "c" });
  await eventually(async () => (await h.stored()).turns.length === 1);
  await new Promise((resolve) => setImmediate(resolve));
  await h.services.database.db.update(turns).set({ stopRequested: true });
  await h.engine.renewLeases();
  const events = await readEvents(response);
  expect(events.at(-1)).toMatchObject({ event: "done", data: { messageId: expect.any(String) } });
  expect((await h.stored()).messages[1]).toMatchObject({ content: "some", metadata: { stopped: "stop" } });
});

test("parallel turns of many conversations leave every counter at rest", async () => {
  const h = await chatHarness(scriptedModel((_call, index) => reply(`r${index}`)));
  await Promise.all(Array.from({ length: 60 }, (_, n) => h.complete(`q${n}`, { chat_id: `c${n % 6}` })));
  const { conversations: rows, messages } = await h.stored();
  expect(rows).toHaveLength(6);
  for (const row of rows) expect(row).toMatchObject({ openTurns: 0, lastTicket: 10, messageCount: 20, lastSeq: 20 });
  expect(messages).toHaveLength(120);
});
