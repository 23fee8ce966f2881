import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { turns } from "../../../src/db/schema.ts";
import { type Harness, harness } from "../../harness.ts";
import { plantTurns, rollUp } from "./plant.ts";

type Headers = Record<string, string>;

async function ask(h: Harness, headers: Headers, path: string) {
  const response = await h.request(path, { headers });
  return { status: response.status, body: await response.json() };
}

const january = "?from=2026-01-01&to=2026-01-04";

async function planted() {
  const h = await harness();
  const [first, second] = [await h.agent({ name: "First" }), await h.agent({ name: "Second" })];
  const [chat, room] = [newId(), newId()];
  await plantTurns(h, [
    { at: "2025-12-31T23:59:59.999Z", tools: [{ name: "httpRequest" }] },
    { at: "2026-01-01T00:00:00Z", conversation: chat, tools: [{ name: "httpRequest", ms: 100 }] },
    { at: "2026-01-01T22:00:00Z", conversation: chat, fields: { status: "failed", durationMs: 60_000 } },
    {
      at: "2026-01-03T10:00:00Z",
      conversation: chat,
      fields: { channel: "telegram", model: "gpt-5", promptTokens: 5000, durationMs: 4000, ttftMs: 900 },
      tools: [
        { name: "httpRequest", status: "failed", ms: 900 },
        { name: "currentTime", ms: 0 },
        { name: "x", status: "pending" },
      ],
    },
    { at: "2026-01-03T11:00:00Z", agent: second.slug, conversation: newId(), subject: "web:bob" },
    // An anonymous user is behind these.
    {
      at: "2026-01-03T12:00:00Z",
      subject: `conversation:${first.slug}:web:${newId()}`,
      fields: { messageCount: 0, status: "aborted" },
    },
    {
      at: "2026-01-03T13:00:00Z",
      conversation: room,
      subject: `conversation:room:${first.slug}:1`,
      fields: { channel: "room" },
    },
    { at: "2026-01-04T00:00:00Z", subject: "web:late" },
  ]);
  return { h, first, second, owner: await h.as("owner") };
}

const whole = {
  overview: {
    turns: 6,
    conversations: 3,
    messages: 10,
    uniqueUsers: 2,
    promptTokens: 5500,
    completionTokens: 60,
    totalTokens: 5560,
  },
  dailyTrend: [
    { date: "2026-01-01", turns: 2, tokens: 220, conversations: 1, messages: 4, latencyP50: 1002, latencyP95: 1002 },
    { date: "2026-01-02", turns: 0, tokens: 0, conversations: 0, messages: 0, latencyP50: null, latencyP95: null },
    { date: "2026-01-03", turns: 4, tokens: 5340, conversations: 3, messages: 6, latencyP50: 1002, latencyP95: 4187 },
  ],
  channelDistribution: [
    { channel: "web", turns: 4, tokens: 440 },
    { channel: "room", turns: 1, tokens: 110 },
    { channel: "telegram", turns: 1, tokens: 5010 },
  ],
  modelDistribution: [
    { model: "openai:gpt-5-mini", turns: 5, tokens: 550 },
    { model: "openai:gpt-5", turns: 1, tokens: 5010 },
  ],
  toolUsage: [
    { tool: "httpRequest", count: 2, errors: 1, p95: 911 },
    { tool: "currentTime", count: 1, errors: 0, p95: 0 },
  ],
  latency: { p50: 1002, p95: 4187, p99: 4187, firstOutputP50: 198 },
};

test("the numbers of a period, and of one agent, are the same before and after they are rolled up", async () => {
  const { h, first, second, owner } = await planted();
  const paths = ["/api/analytics", `/api/instances/${first.slug}/analytics`, `/api/instances/${second.slug}/analytics`];
  // Dates, and moments within rolled-up days.
  const periods = [january, "?from=2026-01-01T12:00:00Z&to=2026-01-03T10:30:00%2B00:00", "?from=2026-01-03T09:00:00Z"];
  const all = () =>
    Promise.all(paths.flatMap((path) => periods.map(async (period) => (await ask(h, owner, path + period)).body)));
  const before = await all();
  expect(before[0]).toEqual(whole);
  expect(before[1].overview).toMatchObject({ turns: 2, conversations: 1, promptTokens: 5100 });
  expect(before[3].overview).toMatchObject({ turns: 5, conversations: 2, uniqueUsers: 1 });
  expect(before[6].overview).toMatchObject({ turns: 1, conversations: 1, uniqueUsers: 1, totalTokens: 110 });
  await rollUp(h);
  expect(await all()).toEqual(before);
});

test("the cost is listed by agent, by end user and by day", async () => {
  const { h, first, second, owner } = await planted();
  const usage = (query: string) => ask(h, owner, `/api/analytics/usage${january}${query}`);
  const of = (turns: number, promptTokens: number, completionTokens: number) => ({
    turns,
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
  });
  const checkAll = async () => {
    expect((await usage("&by=agent")).body).toEqual({
      usage: [
        { instanceId: first.slug, instanceName: "First", ...of(5, 5400, 50) },
        { instanceId: second.slug, instanceName: "Second", ...of(1, 100, 10) },
      ],
      total: 2,
      limit: 50,
      offset: 0,
    });
    expect((await usage("&by=user")).body.usage).toEqual([
      { user: "ada", userChannel: "web", ...of(3, 5200, 30) },
      { user: null, userChannel: null, ...of(2, 200, 20) },
      { user: "bob", userChannel: "web", ...of(1, 100, 10) },
    ]);
    expect((await usage(`&by=user&instanceId=${second.slug}`)).body.usage).toEqual([
      { user: "bob", userChannel: "web", ...of(1, 100, 10) },
    ]);
    expect((await usage("&by=user&limit=1&offset=1")).body).toEqual({
      usage: [{ user: null, userChannel: null, ...of(2, 200, 20) }],
      total: 3,
      limit: 1,
      offset: 1,
    });
    expect((await usage("&by=user&offset=5")).body).toMatchObject({ usage: [], total: 3 });
    expect((await usage("&by=day&limit=2")).body).toEqual({
      usage: [
        { date: "2026-01-01", ...of(2, 200, 20) },
        { date: "2026-01-02", ...of(0, 0, 0) },
      ],
      total: 3,
      limit: 2,
      offset: 0,
    });
  };
  await checkAll();
  await rollUp(h);
  await checkAll();
});

test("only what the caller reaches counts", async () => {
  const { h, first } = await planted();
  const other = await h.createOrganization("other");
  const outside = await h.as("owner", { organization: other });
  const nowhere = await h.as("viewer", { reach: false });
  await rollUp(h);
  const none = { turns: 0, conversations: 0, uniqueUsers: 0, totalTokens: 0 };
  for (const headers of [outside, nowhere]) {
    const { body } = await ask(h, headers, `/api/analytics${january}`);
    expect(body.overview).toMatchObject(none);
    expect(body.latency).toEqual({ p50: null, p95: null, p99: null, firstOutputP50: null });
    for (const by of ["agent", "user"]) {
      expect((await ask(h, headers, `/api/analytics/usage${january}&by=${by}`)).body).toMatchObject({
        usage: [],
        total: 0,
      });
    }
    expect((await ask(h, headers, `/api/instances/${first.slug}/analytics`)).status).toBe(404);
    expect((await ask(h, headers, `/api/analytics/usage?by=day&instanceId=${first.slug}`)).status).toBe(404);
  }
  const seen = await ask(h, await h.as("viewer"), `/api/analytics${january}`);
  expect(seen.body.overview.turns).toBe(6);
});

test.each([
  ["from=2026-01-02&to=2026-01-01", /from/],
  ["from=2024-01-01&to=2026-01-01", /at most 366 days/],
  ["from=yesterday", /ISO 8601/],
  ["from=1066-01-01", /1900/],
])("the period %s is refused", async (query, message) => {
  const h = await harness();
  const owner = await h.as("owner");
  for (const path of ["/api/analytics?", "/api/analytics/usage?by=day&"]) {
    const { status, body } = await ask(h, owner, path + query);
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringMatching(message)]);
  }
});

test("the turns of the chat endpoints count at once, and those of a deleted conversation still do", async () => {
  const h = await harness({ chatRequestsPerMinute: 0 });
  const { slug, key, headers } = await h.agent();
  const say = async (fields: object) => {
    const json = { model: slug, messages: [{ role: "user", content: "Hello" }], ...fields };
    const chat = { method: "POST", headers: { Authorization: `Bearer ${key}` }, json };
    expect((await h.request("/v1/chat/completions", chat)).status).toBe(200);
  };
  await say({ chat_id: "kept", user: "ada" });
  await say({ chat_id: "kept", user: "ada" });
  await say({ chat_id: "gone" });
  await say({});
  const { db } = h.services.database;
  const [stored] = await db.select().from(turns).where(eq(turns.subject, "web:ada"));
  const tomorrow = new Date((stored?.createdAt.getTime() ?? 0) + 24 * 3_600_000).toISOString().slice(0, 10);
  const yesterday = new Date((stored?.createdAt.getTime() ?? 0) - 24 * 3_600_000).toISOString().slice(0, 10);
  const path = `/api/instances/${slug}/analytics?from=${yesterday}&to=${tomorrow}T12:00:00Z`;
  const { body } = await ask(h, headers, path);
  expect(body.overview).toMatchObject({ turns: 4, conversations: 2, messages: 6, uniqueUsers: 2 });
  expect(body.overview.totalTokens).toBeGreaterThan(0);
  expect(body.channelDistribution).toEqual([{ channel: "web", turns: 4, tokens: body.overview.totalTokens }]);
  expect(body.modelDistribution).toEqual([{ model: "demo:demo", turns: 4, tokens: body.overview.totalTokens }]);

  const one = `/api/conversations/${encodeURIComponent(`${slug}:web:api-gone`)}`;
  expect((await h.request(one, { method: "DELETE", headers })).status).toBe(200);
  const after = (await ask(h, headers, path)).body;
  expect(after.overview).toEqual({ ...body.overview, conversations: 1 });
});
