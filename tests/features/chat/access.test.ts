import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { agents, throttles } from "../../../src/db/schema.ts";
import { reply, scriptedModel } from "../../scripted-model.ts";
import { type ChatHarness, chatHarness } from "./chat.ts";

const open = (fields?: Record<string, unknown>) =>
  chatHarness(
    scriptedModel(() => reply("ok")),
    fields,
  );
const bare = { Authorization: "" };

const web = (h: ChatHarness, method: "PUT" | "DELETE", json?: object) =>
  h.request(`/api/instances/${h.agent.slug}/channels/web`, { method, headers: h.agent.headers, json });
const patch = (h: ChatHarness, json: object) =>
  h.request(`/api/instances/${h.agent.slug}`, { method: "PATCH", headers: h.agent.headers, json });

/** The status and the message with which each door answers. */
async function verdicts(h: ChatHarness, headers?: Record<string, string>) {
  const answers = [
    await h.complete("Hi", {}, { headers: headers ?? {} }),
    await h.native("Hi", {}, { headers: headers ?? {} }),
  ];
  return Promise.all(
    answers.map(async (answer) => (answer.ok ? "ok" : `${answer.status} ${(await answer.json()).message}`)),
  );
}
const both = (verdict: string) => [verdict, verdict];

test("an agent whose Web channel was never on is an unknown model", async () => {
  const h = await open();
  const headers = await h.as("owner");
  await h.request("/api/instances", { method: "POST", headers, json: { slug: "fresh" } });
  expect(await (await h.complete("Hi", { model: "fresh" })).json()).toEqual({
    statusCode: 404,
    message: "Unknown model",
    error: "Not Found",
  });
});

test("the key is asked for, and each way to lack it has its text", async () => {
  const h = await open();
  expect(await verdicts(h)).toEqual(both("ok"));
  expect(await verdicts(h, bare)).toEqual(both("401 Missing Bearer token"));
  expect(await verdicts(h, { Authorization: "Basic abc" })).toEqual(both("401 Missing Bearer token"));
  expect(await verdicts(h, { Authorization: `Bearer ${h.agent.key}, Bearer x` })).toEqual(
    both("401 Missing Bearer token"),
  );
  expect(await verdicts(h, { Authorization: "Bearer wrong" })).toEqual(both("401 Invalid API key"));
  expect(await verdicts(h, { Authorization: `Bearer ${h.agent.key}x` })).toEqual(both("401 Invalid API key"));
  expect(await verdicts(h, { Authorization: `Bearer ${h.agent.key.slice(0, -1)}` })).toEqual(
    both("401 Invalid API key"),
  );
  expect(await verdicts(h, h.agent.headers)).toEqual(both("401 Invalid API key"));
});

test("with authentication off no header is needed, and a wrong one does no harm", async () => {
  const h = await open();
  await web(h, "PUT", { config: { requireAuthentication: false }, enabled: true });
  expect(await verdicts(h, bare)).toEqual(both("ok"));
  expect(await verdicts(h, { Authorization: "Bearer wrong" })).toEqual(both("ok"));
});

test("authentication without a stored key is refused with its own text, also when a header came", async () => {
  const h = await open();
  await web(h, "PUT", { config: { requireAuthentication: false }, enabled: true });
  await h.request(`/api/instances/${h.agent.slug}/secrets/auth_api_key`, {
    method: "DELETE",
    headers: h.agent.headers,
  });
  await patch(h, { authEnabled: true });
  expect(await verdicts(h)).toEqual(both("401 Auth enabled but no API key configured"));
  expect(await verdicts(h, bare)).toEqual(both("401 Auth enabled but no API key configured"));
});

test.each<[string, (h: ChatHarness) => Promise<Response>, string]>([
  ["Web off", (h) => web(h, "DELETE"), "404 Unknown model"],
  ["Web off by PUT", (h) => web(h, "PUT", { config: {}, enabled: false }), "404 Unknown model"],
  ["an inactive agent", (h) => patch(h, { active: false }), "404 Unknown model"],
  [
    "a new key",
    (h) => web(h, "PUT", { config: { apiKey: "another-key-123456" }, enabled: true }),
    "401 Invalid API key",
  ],
])("%s bites on the very next call, cached or not", async (_what, revoke, verdict) => {
  const h = await open();
  expect(await verdicts(h)).toEqual(both("ok"));
  expect((await revoke(h)).ok).toBe(true);
  expect(await verdicts(h)).toEqual(both(verdict));
});

test("a new key works at once, although the old one is cached", async () => {
  const h = await open();
  await verdicts(h);
  await web(h, "PUT", { config: { apiKey: "another-key-123456" }, enabled: true });
  expect(await verdicts(h, { Authorization: "Bearer another-key-123456" })).toEqual(both("ok"));
});

test("the order of refusals: agent, then authentication, then body", async () => {
  const h = await open();
  const broken = { messages: [] };
  const status = async (answer: Promise<Response>) => (await answer).status;
  expect(await status(h.complete("", { ...broken, model: "unknown" }, { headers: bare }))).toBe(404);
  expect(await status(h.complete("", broken, { headers: bare }))).toBe(401);
  expect(await status(h.complete("", broken))).toBe(400);
  expect(await status(h.native("", broken, { headers: bare }))).toBe(401);
  expect(await status(h.native("", broken))).toBe(400);
  expect(await status(h.complete("", { model: "../x" }, { headers: bare }))).toBe(400);
  expect(await status(h.complete("", { model: "x".repeat(129) }, { headers: bare }))).toBe(400);
});

test.each([
  "..%2f..%2fhealth",
  "%00",
  "a%00b",
  "UPPER",
  "ünïcode",
  "x".repeat(300),
])("the slug %s is an unknown model natively", async (slug) => {
  const h = await open();
  const response = await h.post(`/api/instances/${slug}/chat/stream`, { messages: [{ role: "user", content: "x" }] });
  expect(response.status).toBe(404);
});

test("twenty calls a minute for each address, refused ones counted, and the throttle goes before everything", async () => {
  const h = await open();
  const from = { "X-Forwarded-For": "203.0.113.7" };
  for (let call = 0; call < 10; call += 1) {
    await h.complete("Hi", {}, { headers: from });
    await h.complete("Hi", { model: "unknown" }, { headers: { ...from, ...bare } });
  }
  for (const extra of [{}, { model: "unknown" }, { messages: [] }]) {
    const refused = await h.complete("Hi", extra, { headers: from });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(50);
    expect(refused.headers.get("X-RateLimit-Limit")).toBe("20");
    expect(refused.headers.get("X-RateLimit-Remaining")).toBe("0");
  }
  expect((await h.complete("Hi", {}, { headers: { "X-Forwarded-For": "203.0.113.8" } })).status).toBe(200);
  expect((await h.native("Hi", {}, { headers: from })).status).toBe(200);
  await h.clock.advance(60_000);
  expect((await h.complete("Hi", {}, { headers: from })).status).toBe(200);
});

test("a call that OPEN throttles leaves no trace but its count", async () => {
  const h = await open();
  const { db } = h.services.database;
  const headers = { "X-Forwarded-For": "203.0.113.9" };
  await h.complete("Hi", { chat_id: "c" }, { headers });
  await db.update(throttles).set({ count: 20 });
  const before = await h.stored();
  expect((await h.complete("Hi", { chat_id: "c" }, { headers })).status).toBe(429);
  expect(await h.stored()).toEqual(before);
});

test("/v1/models: a key sees its agent, a session what it reaches, nobody else anything", async () => {
  const h = await open();
  const list = async (headers: Record<string, string>) => {
    const response = await h.request("/v1/models", { headers });
    return response.ok ? (await response.json()).data.map(({ id }: { id: string }) => id) : response.status;
  };
  const key = { Authorization: `Bearer ${h.agent.key}` };
  await h.request("/api/instances", { method: "POST", headers: h.agent.headers, json: { slug: "z-off" } });
  await h.request("/api/instances", {
    method: "POST",
    headers: h.agent.headers,
    json: { slug: "z-inactive", active: false },
  });
  const other = await h.createOrganization("other");

  expect(await list(key)).toEqual([h.agent.slug]);
  expect(await list(await h.as("viewer"))).toEqual([h.agent.slug, "z-off"]);
  expect(await list(await h.as("viewer", { reach: false }))).toEqual([]);
  expect(await list(await h.as("owner", { organization: other }))).toEqual([]);
  expect(await list({})).toBe(401);
  expect(await list({ Authorization: "Bearer wrong" })).toBe(401);
  expect(await list({ Authorization: "Bearer aek_wrong" })).toBe(401);

  await web(h, "DELETE");
  expect(await list(key)).toEqual([]);
  await web(h, "PUT", { config: {}, enabled: true });
  await patch(h, { active: false });
  expect(await list(key)).toEqual([]);
});

test("/v1/models has the spec's shape", async () => {
  const h = await open();
  const response = await h.request("/v1/models", { headers: { Authorization: `Bearer ${h.agent.key}` } });
  const [row] = await h.services.database.db.select().from(agents).where(eq(agents.slug, h.agent.slug));
  expect(await response.json()).toEqual({
    object: "list",
    data: [
      {
        id: h.agent.slug,
        object: "model",
        created: Math.floor((row?.createdAt.getTime() ?? 0) / 1000),
        owned_by: "acme",
      },
    ],
  });
});
