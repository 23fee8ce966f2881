import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { turns, usageDaily } from "../../../src/db/schema.ts";
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
    {
      at: "2026-01-01T00:00:00Z",
      conversation: chat,
      tools: [{ name: "httpRequest", ms: 100 }],
      fields: { costMicros: 1000 },
    },
    { at: "2026-01-01T22:00:00Z", conversation: chat, fields: { status: "failed", durationMs: 60_000 } },
    {
      at: "2026-01-03T10:00:00Z",
      conversation: chat,
      fields: {
        channel: "telegram",
        model: "gpt-5",
        promptTokens: 5000,
        costMicros: 5000,
        durationMs: 4000,
        ttftMs: 900,
      },
      tools: [
        { name: "httpRequest", status: "failed", ms: 900 },
        { name: "currentTime", ms: 0 },
        { name: "x", status: "pending" },
      ],
    },
    {
      at: "2026-01-03T11:00:00Z",
      agent: second.slug,
      conversation: newId(),
      subject: "web:bob",
      fields: { costMicros: 250 },
    },
    // An anonymous user is behind these.
    {
      at: "2026-01-03T12:00:00Z",
      subject: `conversation:${first.slug}:web:${newId()}`,
      fields: { messageCount: 0, status: "aborted", costMicros: 0 },
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

const cost = (costMicros: number | null, unpricedTurns: number) => ({ costMicros, unpricedTurns });

const fast = { latencyP50: 1002, latencyP95: 1002 };
const slow = { latencyP50: 1002, latencyP95: 4187 };
const unmeasured = { latencyP50: null, latencyP95: null };

const whole = {
  currency: "USD",
  overview: {
    turns: 6,
    conversations: 3,
    messages: 10,
    uniqueUsers: 2,
    promptTokens: 5500,
    completionTokens: 60,
    totalTokens: 5560,
    ...cost(6250, 2),
  },
  dailyTrend: [
    { date: "2026-01-01", turns: 2, tokens: 220, ...cost(1000, 1), conversations: 1, messages: 4, ...fast },
    { date: "2026-01-02", turns: 0, tokens: 0, ...cost(0, 0), conversations: 0, messages: 0, ...unmeasured },
    { date: "2026-01-03", turns: 4, tokens: 5340, ...cost(5250, 1), conversations: 3, messages: 6, ...slow },
  ],
  channelDistribution: [
    { channel: "web", turns: 4, tokens: 440, ...cost(1250, 1) },
    { channel: "room", turns: 1, tokens: 110, ...cost(null, 1) },
    { channel: "telegram", turns: 1, tokens: 5010, ...cost(5000, 0) },
  ],
  modelDistribution: [
    { model: "openai:gpt-5-mini", turns: 5, tokens: 550, ...cost(1250, 2) },
    { model: "openai:gpt-5", turns: 1, tokens: 5010, ...cost(5000, 0) },
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
  // Sums of an earlier release count turns of unknown cost.
  await h.services.database.db.update(usageDaily).set({ costMicros: 0, priced: 0 });
  const old = (await ask(h, owner, `/api/analytics${january}`)).body;
  expect(old.overview).toEqual({ ...whole.overview, ...cost(null, 6) });
  expect(old.dailyTrend.map(({ costMicros }: { costMicros: number | null }) => costMicros)).toEqual([null, 0, null]);
});

test("the cost is listed by agent, by end user, by model and by day", async () => {
  const { h, first, second, owner } = await planted();
  const usage = (query: string) => ask(h, owner, `/api/analytics/usage${january}${query}`);
  const of = (turns: number, promptTokens: number, completionTokens: number, costs: object) => ({
    ...costs,
    turns,
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
  });
  const checkAll = async () => {
    expect((await usage("&by=agent")).body).toEqual({
      currency: "USD",
      usage: [
        { instanceId: first.slug, instanceName: "First", ...of(5, 5400, 50, cost(6000, 2)) },
        { instanceId: second.slug, instanceName: "Second", ...of(1, 100, 10, cost(250, 0)) },
      ],
      total: 2,
      limit: 50,
      offset: 0,
    });
    expect((await usage("&by=user")).body.usage).toEqual([
      { user: "ada", userChannel: "web", ...of(3, 5200, 30, cost(6000, 1)) },
      { user: null, userChannel: null, ...of(2, 200, 20, cost(0, 1)) },
      { user: "bob", userChannel: "web", ...of(1, 100, 10, cost(250, 0)) },
    ]);
    expect((await usage(`&by=user&instanceId=${second.slug}`)).body.usage).toEqual([
      { user: "bob", userChannel: "web", ...of(1, 100, 10, cost(250, 0)) },
    ]);
    expect((await usage("&by=model")).body.usage).toEqual([
      { model: "openai:gpt-5", ...of(1, 5000, 10, cost(5000, 0)) },
      { model: "openai:gpt-5-mini", ...of(5, 500, 50, cost(1250, 2)) },
    ]);
    expect((await usage("&by=user&limit=1&offset=1")).body).toEqual({
      currency: "USD",
      usage: [{ user: null, userChannel: null, ...of(2, 200, 20, cost(0, 1)) }],
      total: 3,
      limit: 1,
      offset: 1,
    });
    expect((await usage("&by=user&offset=5")).body).toMatchObject({ usage: [], total: 3 });
    expect((await usage("&by=day&limit=2")).body).toEqual({
      currency: "USD",
      usage: [
        { date: "2026-01-01", ...of(2, 200, 20, cost(1000, 1)) },
        { date: "2026-01-02", ...of(0, 0, 0, cost(0, 0)) },
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
  // The open edition computes no costs.
  const numbers = { turns: 4, tokens: body.overview.totalTokens, ...cost(null, 4) };
  expect(body.channelDistribution).toEqual([{ channel: "web", ...numbers }]);
  expect(body.modelDistribution).toEqual([{ model: "demo:demo", ...numbers }]);

  const one = `/api/conversations/${encodeURIComponent(`${slug}:web:api-gone`)}`;
  expect((await h.request(one, { method: "DELETE", headers })).status).toBe(200);
  const after = (await ask(h, headers, path)).body;
  expect(after.overview).toEqual({ ...body.overview, conversations: 1 });
});
