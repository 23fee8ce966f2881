import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { conversations, turns } from "../../../src/db/schema.ts";
import { finish, reply, scriptedModel, text } from "../../scripted-model.ts";
import { conversationHarness, plant, refOf, root } from "./conversations.ts";

test("lists the messages to agents, the newest first, with their tokens", async () => {
  const model = scriptedModel(() => ({ parts: [text("Yes"), finish("stop", { input: 30, output: 4 })] }));
  const h = await conversationHarness(model, { name: "Support" });
  for (const chat of ["a", "b", "a"]) await h.say("Hello", chat);
  const page = await h.list();
  expect(page).toMatchObject({ total: 2, limit: 20, offset: 0 });
  expect(page.conversations.map(({ conversationId }) => conversationId)).toEqual([refOf(h, "a"), refOf(h, "b")]);
  expect(page.conversations[0]).toEqual({
    id: expect.any(String),
    conversationId: refOf(h, "a"),
    // A job may have set it by now.
    title: expect.toBeOneOf([null, expect.any(String)]),
    summary: null,
    channel: "web",
    source: "user",
    instanceId: h.agent.slug,
    instanceName: "Support",
    messageCount: 4,
    totalTokens: 68,
    createdAt: expect.stringMatching(/Z$/),
    updatedAt: expect.stringMatching(/Z$/),
    snippet: null,
  });
});

test("a conversation without messages is not listed", async () => {
  const h = await conversationHarness(scriptedModel(() => ({ fail: new Error("down") })));
  expect((await h.complete("Hello", { chat_id: "c" })).status).toBe(502);
  expect((await h.stored()).conversations).toMatchObject([{ messageCount: 0 }]);
  expect(await h.list()).toMatchObject({ conversations: [], total: 0 });
  expect((await h.get(`${root}/${refOf(h, "c")}`)).status).toBe(200);
});

test("is narrowed by agent, channel and source", async () => {
  const h = await conversationHarness();
  const ref = await h.say("Hello");
  const second = await h.another("second");
  await plant(h, ["tick"], { source: "scheduled", channel: "telegram" });
  expect((await h.list({ instanceId: h.agent.slug })).total).toBe(2);
  expect((await h.list({ instanceId: second })).total).toBe(0);
  expect((await h.list({ channel: "web" })).conversations.map((one) => one.conversationId)).toEqual([ref]);
  expect((await h.list({ source: "scheduled" })).conversations).toMatchObject([{ channel: "telegram" }]);
  expect((await h.list({ channel: "web", source: "scheduled" })).total).toBe(0);
  expect((await h.get(`${root}?instanceId=nobody`)).status).toBe(404);
  expect((await h.get(`${root}?instanceId=`)).status).toBe(404);
  expect((await h.get(`${root}?source=nothing`)).status).toBe(400);
});

test("is narrowed by the day of the last message", async () => {
  const h = await conversationHarness();
  for (const day of ["2026-11-01", "2026-11-02", "2026-11-03"]) {
    await plant(h, [`ferry of ${day}`], { updatedAt: new Date(`${day}T12:00:00Z`) });
  }
  const found = async (query: Parameters<typeof h.list>[0]) =>
    (await h.list(query)).conversations.map(({ updatedAt }) => String(updatedAt).slice(8, 10));
  expect(await found({ from: "2026-11-02" })).toEqual(["03", "02"]);
  expect(await found({ to: "2026-11-03" })).toEqual(["02", "01"]);
  expect(await found({ from: "2026-11-02", to: "2026-11-03", search: "ferry" })).toEqual(["02"]);
  expect(await found({ from: "2026-11-02T12:00:01+00:00" })).toEqual(["03"]);
  const wrong = ["from=yesterday", "to=2026-02-30", "from=%00", "from=2026-11-03&to=2026-11-02", "from=0001-01-01"];
  for (const query of wrong) expect([query, (await h.get(`${root}?${query}`)).status]).toEqual([query, 400]);
});

test("comes in pages that hold each once", async () => {
  const h = await conversationHarness();
  // All have the same time, so that only the id orders them.
  await plant(
    h,
    Array.from({ length: 45 }, (_, n) => `message ${n}`),
    { updatedAt: new Date("2026-11-01") },
  );
  const pages = await Promise.all([0, 20, 40].map((offset) => h.list({ offset })));
  expect(pages.map((page) => page.total)).toEqual([45, 45, 45]);
  expect(pages.map((page) => page.conversations.length)).toEqual([20, 20, 5]);
  expect(new Set(pages.flatMap((page) => page.conversations.map(({ id }) => id))).size).toBe(45);
  expect(await h.list({ limit: 100, offset: 2_147_483_647 })).toMatchObject({ conversations: [], total: 45 });
});

test.each([
  "limit=0",
  "limit=101",
  "limit=ten",
  "limit=-1",
  "offset=-1",
  "offset=1.5",
  "offset=99999999999",
])("%s is a 400", async (query) => {
  const h = await conversationHarness();
  expect((await h.get(`${root}?${query}`)).status).toBe(400);
});

test("shows what the caller reaches, and nothing of others", async () => {
  const h = await conversationHarness();
  const ref = await h.say("Hello");
  const other = await h.createOrganization("other");
  const foreign = await h.as("owner", { organization: other });
  const unreached = await h.as("viewer", { reach: false });
  expect((await h.list({}, await h.as("viewer"))).conversations.map((one) => one.conversationId)).toEqual([ref]);
  for (const headers of [foreign, unreached]) {
    expect(await h.list({}, headers)).toMatchObject({ conversations: [], total: 0 });
    expect(await h.list({ search: "Hello" }, headers)).toMatchObject({ conversations: [], total: 0 });
    expect((await h.get(`${root}?instanceId=${h.agent.slug}`, headers)).status).toBe(404);
  }
  expect((await h.get(root, {})).status).toBe(401);
});

test("a deleted agent takes its conversations along", async () => {
  const h = await conversationHarness(scriptedModel(() => reply("Yes")));
  const ref = await h.say("Hello");
  const owner = await h.as("owner");
  expect((await h.request(`/api/instances/${h.agent.slug}`, { method: "DELETE", headers: owner })).status).toBe(200);
  expect((await h.list()).total).toBe(0);
  expect((await h.get(`${root}/${encodeURIComponent(ref)}`)).status).toBe(404);
  expect(await h.db.select().from(turns)).toEqual([]);
  expect(await h.db.select().from(conversations).where(eq(conversations.ref, ref))).toEqual([]);
});
