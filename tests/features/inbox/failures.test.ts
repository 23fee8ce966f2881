import { APICallError } from "@ai-sdk/provider";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { channels, conversations, inbox, jobs, outbox } from "../../../src/db/schema.ts";
import { failedNotice } from "../../../src/features/inbox/outbox/replies.ts";
import { finish, reply, type ScriptedCall, type ScriptStep, text, toolCall } from "../../scripted-model.ts";
import { eventually } from "../chat/chat.ts";
import { answering, doing } from "./answering.ts";

const failing = (statusCode: number, more: object = {}): ScriptStep => ({
  fail: new APICallError({ message: "No", url: "https://model.example", requestBodyValues: {}, statusCode, ...more }),
});
const down = failing(503);

type World = Awaited<ReturnType<typeof answering>>;

/** Runs everything due within this many minutes, in steps of `stepMs`, which must be shorter than a job's lease. */
async function minutes(h: World, count: number, stepMs = 10_000) {
  for (let at = 0; at < (count * 60_000) / stepMs; at += 1) {
    await h.clock.advance(stepMs);
    await h.engine.tick();
    // The database works in real time, next to the clock.
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

const errors = async (h: World) => (await h.rows()).inbox.map(({ status, error }) => [status, error]);
const asked = ({ prompt }: ScriptedCall) => JSON.stringify(prompt);

test("a model that is down for a while answers later, and nothing of the failures is in the transcript", async () => {
  let calls = 0;
  const h = await answering(() => {
    calls += 1;
    return calls <= 4 ? down : reply("Here I am.");
  });
  await h.say("Hello");
  await minutes(h, 5);
  await h.idle();
  expect(await h.transcript()).toEqual(["user: Hello", "assistant: Here I am."]);
  expect(await h.sent()).toEqual(["Here I am."]);
  const warned = h.logs.filter((line) => line.includes("will be tried again"));
  expect(warned.length).toBeGreaterThan(0);
  // All failures, and the answer.
  expect((await h.rows()).inbox.map(({ attempts }) => attempts)).toEqual([warned.length + 1]);
  expect(warned.join()).not.toContain("Hello");
});

test("a turn that broke off midway is tried again whole", async () => {
  const h = await answering(
    doing({ parts: [...text("Half a"), new TypeError("terminated")] }, reply("A whole answer.")),
  );
  await h.say("Hello");
  await minutes(h, 1);
  await h.idle();
  expect(await h.transcript()).toEqual(["user: Hello", "assistant: A whole answer."]);
  expect(await h.sent()).toEqual(["A whole answer."]);
});

test("a message that fails each time fails alone; the others are answered, and the person gets one notice", async () => {
  const h = await answering((call) => (asked(call).includes("poison") ? down : reply("Fine.")));
  await h.say("poison");
  await h.say("Good morning");
  await minutes(h, 120, 20_000);
  await h.idle();
  expect(await errors(h)).toEqual([
    ["failed", "Model provider error: The provider failed (status 503)"],
    ["done", null],
  ]);
  expect(await h.sent()).toEqual([failedNotice, "Fine."]);
  expect((await h.rows()).inbox[0]?.attempts).toBe(10);
});

test("messages the model refuses in a batch are tried one by one and given up at once", async () => {
  const h = await answering((call) => (asked(call).includes("poison") ? failing(400) : reply("Fine.")));
  await h.say("Good morning");
  await h.say("poison");
  await h.say("Good night");
  await minutes(h, 2);
  await h.idle();
  expect(await h.statuses()).toEqual(["done", "failed", "done"]);
  expect(await h.sent()).toEqual(["Fine.", failedNotice, "Fine."]);
});

test("a spent budget gives up at once, and tells the person once an hour at most", async () => {
  const h = await answering(doing(), { agent: { monthlyTokenBudget: 1 } });
  await h.say("Hello");
  await minutes(h, 1);
  await h.say("Hello?");
  await minutes(h, 1);
  expect(h.model.calls).toHaveLength(0);
  const spent = expect.stringContaining("budget is used up");
  expect(await errors(h)).toEqual([
    ["failed", spent],
    ["failed", spent],
  ]);
  expect(await h.sent()).toEqual([failedNotice]);
});

test("a budget of each person counts the person", async () => {
  const h = await answering(() => ({ parts: [...text("Hi."), finish("stop", { input: 900, output: 100 })] }), {
    agent: { userMonthlyTokenBudget: 1_000, debounceMs: 0, maxOutputTokens: 10 },
  });
  await h.say("Hello", 1, 42);
  await h.done(1);
  await h.say("Hello", 2, 42);
  await h.done(2);
  await h.say("Hello", 3, 43);
  await h.done(3);
  const { inbox } = await h.rows();
  const fates = Object.fromEntries(inbox.map(({ providerId, status }) => [providerId, status]));
  expect(fates).toEqual({ "1000:42:1": "done", "1000:42:2": "failed", "1000:43:3": "done" });
});

test("messages that wait while the agent or its channel is turned off are given up silently", async () => {
  const h = await answering(doing());
  await h.say("Hello");
  await h.request(`/api/instances/${h.agent.slug}`, {
    method: "PATCH",
    headers: h.agent.headers,
    json: { active: false },
  });
  await minutes(h, 1);
  expect(await errors(h)).toEqual([["failed", "The agent is inactive"]]);
  await h.request(`/api/instances/${h.agent.slug}`, {
    method: "PATCH",
    headers: h.agent.headers,
    json: { active: true },
  });
  await h.say("Hello again");
  await h.services.database.db.update(channels).set({ enabled: false }).where(eq(channels.type, "telegram"));
  await minutes(h, 1);
  expect((await errors(h))[1]).toEqual(["failed", "The channel is off"]);
  expect(await h.sent()).toEqual([]);
});

test("a turn that failed after it called a tool is not repeated: the person gets a notice", async () => {
  const call = [...toolCall("c1", "httpRequest", { url: "https://shop.example/orders", method: "POST" })];
  const h = await answering((_, index) => (index === 0 ? { parts: [...call, finish("tool-calls")] } : down), {
    egress: { request: async ({ url }) => ({ status: 200, headers: {}, body: "ordered", url }) },
  });
  const { slug, headers } = h.agent;
  const enabled = { enabled: ["httpRequest"] };
  expect((await h.request(`/api/instances/${slug}/tools`, { method: "PATCH", headers, json: enabled })).status).toBe(
    200,
  );
  await h.say("Order it");
  await minutes(h, 10);
  await h.idle();
  expect((await h.turns()).map(([status]) => status)).toEqual(["failed"]);
  expect(await errors(h)).toEqual([
    [
      "failed",
      "Model provider error: The provider failed (status 503). It is not tried again, since tools were called",
    ],
  ]);
  expect(await h.sent()).toEqual([failedNotice]);
});

test("a job that ended with its process each time gives up one message, and the next is answered", async () => {
  const h = await answering(doing(reply("Good night.")));
  const { db } = h.services.database;
  await h.say("poison");
  await h.say("Good night");
  await db
    .update(jobs)
    .set({ status: "failed", failedAt: new Date(), attempts: 10 })
    .where(eq(jobs.kind, "inbox.answer"));
  await h.engine.tick();
  await eventually(async () => (await h.statuses())[0] === "failed");
  await minutes(h, 1);
  await h.done(2);
  expect(await h.statuses()).toEqual(["failed", "done"]);
  expect(h.prompts()).toEqual([["Good night"]]);
  expect(await h.sent()).toEqual([failedNotice, "Good night."]);
});

test("an overload costs a message no attempt but the one that answers it", async () => {
  let lateMs = 0;
  const h = await answering(doing(reply("At last.")), { loopDelay: () => lateMs });
  await h.say("Hello");
  lateMs = 5_000;
  await minutes(h, 2);
  lateMs = 0;
  await minutes(h, 2);
  await h.idle();
  expect(await h.sent()).toEqual(["At last."]);
  expect((await h.rows()).inbox[0]?.attempts).toBe(1);
});

test("a message that another release stored in another shape holds up no other, and is reported", async () => {
  const h = await answering(doing(reply("All three.")));
  for (const text of ["One", "Two", "Three"]) await h.say(text);
  const { db } = h.services.database;
  const [, second] = (await h.rows()).inbox;
  await db
    .update(inbox)
    .set({ payload: { said: "Two", fate: 7 } })
    .where(eq(inbox.id, second?.id ?? ""));
  await h.settle();
  await h.idle();
  expect(h.prompts()).toEqual([["One", "42: [A message came that can't be read.]", "Three"]]);
  expect(await h.statuses()).toEqual(["done", "done", "done"]);
});

test("a channel that this release does not know keeps no other work of the server's from being done", async () => {
  const h = await answering(doing(reply("Hello.")));
  await h.say("Hello");
  const { db } = h.services.database;
  const [{ id = "", agentId = "" } = {}] = await db.select().from(conversations);
  await db.update(inbox).set({ channel: "pigeon" });
  await db.update(conversations).set({ channel: "pigeon" });
  await db.update(jobs).set({ status: "failed", payload: { conversationId: id } });
  const long = new Date(h.clock.now() - 40 * 24 * 3_600_000);
  const sent = { channel: "telegram", target: "42", body: "Long ago", status: "sent", createdAt: long };
  await db.insert(outbox).values({ ...sent, id: newId(), agentId });
  await h.engine.tick();
  expect(await h.sent()).toEqual([]);
});

test("a person is told at once, in one sentence, that the model gave no reply", async () => {
  const h = await answering(() => ({ parts: [finish("stop")] }));
  await h.say("Hello");
  await h.settle();
  await h.done(1);
  await h.idle();
  expect(await errors(h)).toEqual([["failed", "The model said nothing"]]);
  expect(await h.sent()).toEqual([failedNotice]);
  // A single message is tried no more than once.
  expect(h.model.calls).toHaveLength(2);
});

test("and that the agent stopped without an answer", async () => {
  const h = await answering(() => ({ parts: [...toolCall("c", "currentTime"), finish("tool-calls")] }));
  const path = `/api/instances/${h.agent.slug}`;
  const json = { maxSteps: 1 };
  expect((await h.request(path, { method: "PATCH", headers: await h.as("admin"), json })).status).toBe(200);
  await h.say("Hello");
  await h.settle();
  await h.done(1);
  await h.idle();
  expect(await errors(h)).toEqual([["failed", "The agent stopped after 1 steps without an answer"]]);
  expect(await h.sent()).toEqual([failedNotice]);
});
