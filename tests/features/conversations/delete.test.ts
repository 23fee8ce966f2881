import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import {
  auditLogs,
  conversations,
  files,
  hookExecutions,
  memories,
  messages,
  streamChunks,
  toolCalls,
  turns,
} from "../../../src/db/schema.ts";
import { createEngine, type Engine } from "../../../src/engine.ts";
import { saveMemory } from "../../../src/features/memories/index.ts";
import { finish, gate, reply, scriptedModel, text, textDelta, toolCall } from "../../scripted-model.ts";
import { watch } from "../activity/watch.ts";
import { eventually, readEvents, readUntil } from "../chat/chat.ts";
import { address, conversationHarness, refOf } from "./conversations.ts";

type Harness = Awaited<ReturnType<typeof conversationHarness>>;

const remove = (h: Harness, ref: string, headers = h.admin) => h.request(address(ref), { method: "DELETE", headers });

const idOf = async ({ db }: Harness, ref: string) => {
  const [row] = await db.select().from(conversations).where(eq(conversations.ref, ref));
  if (!row) throw new Error("There is no such conversation");
  return row;
};

test("takes all of one conversation, nothing of another, and is in the audit log", async () => {
  const h = await conversationHarness();
  const [ref, kept] = [await h.say("Hello", "a"), await h.say("Hello", "b")];
  const { id, agentId, organizationId } = await idOf(h, ref);
  const { id: keptId } = await idOf(h, kept);
  const execution = { turnId: newId(), hookId: newId(), position: 0, event: "x", toolName: "t", success: true };
  await h.db.insert(hookExecutions).values({ ...execution, conversationId: id, durationMs: 1 });
  const file = { organizationId, agentId, name: "a", mime: "text/plain", size: 1, sha256: "00", status: "stored" };
  const store = { store: "directory" as const };
  const [mine, theirs] = [newId(), newId()];
  await h.db.insert(files).values([
    { ...file, ...store, id: mine, storageKey: mine, conversationId: id },
    { ...file, ...store, id: theirs, storageKey: theirs, conversationId: keptId },
  ]);
  const agent = { id: agentId, organizationId };
  await saveMemory(h.services.database, { agent, subject: "web:ada", content: "Likes tea", conversationId: id });

  const response = await remove(h, ref);
  expect([response.status, await response.json()]).toEqual([200, { deleted: true }]);
  expect((await h.list()).conversations.map((one) => one.conversationId)).toEqual([kept]);
  expect((await remove(h, ref)).status).toBe(404);
  expect(await h.db.select().from(hookExecutions)).toEqual([]);
  expect((await h.db.select().from(messages)).map((message) => message.conversationId)).toEqual([keptId, keptId]);
  const states = new Map((await h.db.select().from(files)).map((row) => [row.id, row.status]));
  expect(states.get(theirs)).toBe("stored");
  expect(states.get(mine) ?? "deleting").toBe("deleting");
  // Memories of the agent outlive their conversation.
  expect(await h.db.select().from(memories)).toMatchObject([{ content: "Likes tea", sourceConversationId: null }]);
  const audited = await h.db.select().from(auditLogs).where(eq(auditLogs.action, "conversation.delete"));
  expect(audited).toMatchObject([{ target: h.agent.slug, summary: { conversationId: ref } }]);
});

test("leaves the numbers of its turns, and nothing that was said", async () => {
  const h = await conversationHarness();
  const ref = await h.say("canary");
  await remove(h, ref);
  const rows = await h.db.select().from(turns);
  expect(rows).toMatchObject([{ status: "done", conversationId: null, promptTokens: 1, completionTokens: 1 }]);
  expect(JSON.stringify(rows)).not.toContain("canary");
});

test("the same chat begins anew afterwards", async () => {
  const model = scriptedModel(() => reply("Yes"));
  const h = await conversationHarness(model);
  const ref = await h.say("The first canary");
  await remove(h, ref);
  await h.say("The second parrot");
  const asked = model.calls.map(({ prompt }) => JSON.stringify(prompt)).filter((prompt) => prompt.includes("parrot"));
  expect(asked.length).toBeGreaterThan(0);
  expect(asked.join()).not.toContain("canary");
  expect(await idOf(h, ref)).toMatchObject({ messageCount: 2, lastTicket: 1, openTurns: 0 });
});

test("stops a running turn: its client gets an end, nothing is stored and nothing is logged as lost", async () => {
  const held = gate();
  const model = scriptedModel([{ parts: [textDelta("So far "), held.promise, textDelta("never"), finish()] }]);
  const h = await conversationHarness(model);
  const response = await h.native("Hello", { chat_id: "c" });
  const { reader } = await readUntil(response, (said) => said.includes("So far"));
  expect((await remove(h, refOf(h, "c"))).status).toBe(200);
  await h.engine.renewLeases();
  let rest = "";
  for (let part = await reader.read(); !part.done; part = await reader.read())
    rest += new TextDecoder().decode(part.value);
  expect(rest).toContain(`event: done\ndata: {"conversationId":"${refOf(h, "c")}","messageId":null}`);
  expect(rest).not.toContain("event: error");
  const { conversations: left, messages: said, turns: rows } = await h.stored();
  expect([left, said]).toEqual([[], []]);
  expect(rows).toMatchObject([{ status: "aborted", errorCode: "stop", conversationId: null }]);
  expect(h.logs.filter((line) => /"level":"(error|warn)"/.test(line))).toEqual([]);
});

test.each([
  ["whole, before output", [], {}, 409],
  ["whole, behind output", [textDelta("So far ")], {}, 409],
  ["streamed, before output", [], { stream: true }, 409],
  ["streamed, behind output", [textDelta("So far ")], { stream: true }, 200],
])("a turn on /v1 that is stopped is an error: %s", async (_what, said, extra, status) => {
  const held = gate();
  const model = scriptedModel([{ parts: [...said, held.promise, textDelta("never"), finish()] }]);
  const h = await conversationHarness(model);
  const asked = h.complete("Hello", { chat_id: "c", ...extra });
  await model.called(1);
  await new Promise((resolve) => setImmediate(resolve));
  await remove(h, refOf(h, "c"));
  await h.engine.renewLeases();
  const response = await asked;
  const answer = await response.text();
  expect([response.status, answer.includes('"finish_reason":"stop"')]).toEqual([status, false]);
  expect(answer).toContain('"message":"The turn was stopped"');
  expect(response.headers.get("X-Should-Retry")).toBe(status === 409 ? "false" : null);
});

test("a turn of it can't be resumed on any replica, and none keeps its output", async () => {
  const h = await conversationHarness(scriptedModel(() => reply("canary")));
  const turn = await readEvents(await h.native("Hello", { chat_id: "c" }));
  const { chunks, resume } = resuming(h, String(turn.at(-1)?.data.messageId));
  let told = "";
  void (await resume(createEngine(h.services))).text().then((all) => {
    told = all;
  });
  await eventually(async () => {
    await h.clock.advance(1_000);
    await h.engine.closeRevoked();
    return told;
  });
  expect(told).toContain("canary");
  expect((await chunks()).length).toBeGreaterThan(1);
  expect((await remove(h, refOf(h, "c"))).status).toBe(200);
  expect(await chunks()).toEqual([]);
  expect((await resume(h.engine)).status).toBe(404);
  expect((await resume(createEngine(h.services))).status).toBe(404);
});

test("no replica keeps further events of its turns, and followers get an end", async () => {
  const held = gate();
  const model = scriptedModel([{ parts: [textDelta("So far "), held.promise, textDelta("never"), finish()] }]);
  const h = await conversationHarness(model);
  const { text: said } = await readUntil(await h.native("Hello", { chat_id: "c" }), (all) => all.includes("So far"));
  const { chunks, resume } = resuming(h, /^id: ([^:]+):/m.exec(said)?.[1] ?? "");
  const pass = async (over: () => Promise<unknown>) =>
    eventually(async () => {
      await h.clock.advance(1_000);
      await h.engine.closeRevoked();
      return over();
    });
  let told = "";
  const { reader } = await readUntil(await resume(createEngine(h.services)), (all) => all.includes(": ping"));
  void (async () => {
    for (let part = await reader.read(); !part.done; part = await reader.read())
      told += new TextDecoder().decode(part.value);
  })();
  await pass(async () => told.includes("So far"));
  expect((await remove(h, refOf(h, "c"))).status).toBe(200);
  held.open();
  await pass(async () => told.includes("event: done"));
  expect(told).toContain('event: error\ndata: {"message":"Turn not found"}');
  expect(told).not.toContain("never");
  await eventually(async () => (await h.stored()).turns.every(({ status }) => status !== "running"));
  await pass(async () => true);
  expect(await chunks()).toEqual([]);
});

function resuming(h: Harness, messageId: string) {
  const path = `/api/instances/${h.agent.slug}/chat/stream/${messageId}`;
  const headers = { Authorization: `Bearer ${h.agent.key}` };
  return {
    chunks: () => h.db.select().from(streamChunks),
    resume: async ({ app }: Pick<Engine, "app">) => app.request(path, { headers }, { remoteAddress: "192.0.2.1" }),
  };
}

test("a turn that ends before it can be stopped gives its client the whole reply, and stores none of it", async () => {
  const held = gate();
  const model = scriptedModel([{ parts: [text("So far "), held.promise, text("so good"), finish()] }]);
  const h = await conversationHarness(model, { memoryEnabled: true });
  const asked = h.complete("Hello", { chat_id: "c" });
  await model.called(1);
  expect((await remove(h, refOf(h, "c"))).status).toBe(200);
  held.open();
  const response = await asked;
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ choices: [{ message: { content: "So far so good" } }] });
  expect(watch(h).texts.join()).not.toContain("So far");
  const { conversations: left, messages: said, turns: rows } = await h.stored();
  expect([left, said]).toEqual([[], []]);
  expect(rows).toMatchObject([{ status: "done", conversationId: null, promptTokens: 1, completionTokens: 1 }]);
  expect(h.logs.filter((line) => /"level":"(error|warn)"/.test(line))).toEqual([]);
});

test("turns that wait are stopped, and never reach the model", async () => {
  const held = gate();
  const model = scriptedModel(() => ({ parts: [held.promise, text("late"), finish()] }));
  const h = await conversationHarness(model);
  const first = h.complete("first", { chat_id: "c" });
  await model.called(1);
  const second = h.native("second", { chat_id: "c" });
  await eventually(async () => (await h.stored()).turns.some(({ status }) => status === "queued"));
  await remove(h, refOf(h, "c"));
  // The waiting turn tries to open several times meanwhile.
  for (let n = 0; n < 8; n += 1) await h.clock.advance(300);
  expect(model.calls).toHaveLength(1);
  await h.engine.renewLeases();
  expect((await readEvents(await second)).map(({ event }) => event)).toEqual(["done"]);
  held.open();
  await (await first).text();
  const { conversations: left, messages: said, turns: rows } = await h.stored();
  expect([left, said, model.calls.length]).toEqual([[], [], 1]);
  expect(rows.map(({ status }) => status)).toEqual(["aborted", "aborted"]);
  expect(h.logs.filter((line) => /"level":"(error|warn)"/.test(line))).toEqual([]);
});

test("a call that waits for a decision can't be decided any more, and its arguments are deleted", async () => {
  const model = scriptedModel([
    { parts: [toolCall("call_1", "currentTime", { timezone: "UTC" }), finish("tool-calls")] },
  ]);
  const h = await conversationHarness(model);
  const owner = await h.as("owner");
  const json = { enabled: ["currentTime"], needsApproval: ["currentTime"] };
  await h.request(`/api/instances/${h.agent.slug}/tools`, { method: "PATCH", headers: owner, json });
  const ref = await h.say("What time is it?");
  expect((await h.stored()).turns).toMatchObject([{ status: "approval" }]);
  await remove(h, ref);
  const decide = { method: "POST", headers: owner, json: { approved: true } };
  expect((await h.request(`${address(ref)}/approvals/call_1`, decide)).status).toBe(404);
  expect(await h.db.select().from(toolCalls)).toMatchObject([{ status: "expired", args: null }]);
  expect((await h.stored()).turns).toMatchObject([{ status: "done", suspended: null }]);
  await h.engine.tick();
  expect(model.calls).toHaveLength(1);
});

test("turns and deletions at once leave every counter at rest and lose no turn", async () => {
  const h = await conversationHarness(scriptedModel(() => reply("Yes")));
  await h.say("Hello");
  const ref = refOf(h, "c");
  const work = Array.from({ length: 20 }, async (_, n) => {
    if (n % 4 === 3) return (await remove(h, ref)).status;
    const response = await h.complete(`q${n}`, { chat_id: "c" });
    await response.text();
    return response.status;
  });
  const settled = Promise.all(work);
  let over = false;
  void settled.finally(() => {
    over = true;
  });
  await eventually(async () => {
    await h.clock.advance(300);
    await h.engine.renewLeases();
    return over;
  });
  for (const status of await settled) expect([200, 404, 409]).toContain(status);
  const { conversations: left, messages: said, turns: rows } = await h.stored();
  expect(rows).toHaveLength(16);
  expect(rows.filter(({ status }) => !["done", "aborted"].includes(status))).toEqual([]);
  for (const one of left) {
    expect(one).toMatchObject({ openTurns: 0 });
    expect(said.filter((message) => message.conversationId === one.id)).toHaveLength(one.messageCount);
  }
  expect(h.logs.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});
