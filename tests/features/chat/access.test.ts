import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
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

/** The status and the message of each endpoint's answer. */
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

test("/v1/models: a key sees its agent, a session the agents it can reach, other callers none", async () => {
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
  expect(await list({ ...(await h.as("viewer")), "X-Organization": "other" })).toBe(404);
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

describe("/v1/models/{id}", () => {
  const read = async (h: ChatHarness, id: string, headers: Record<string, string>) => {
    const response = await h.request(`/v1/models/${id}`, { headers });
    const body = await response.json();
    return response.ok ? body : `${response.status} ${body.message}`;
  };

  test("answers an entry of the list, to callers who see it there", async () => {
    const h = await open();
    const key = { Authorization: `Bearer ${h.agent.key}` };
    const other = await h.anotherAgent();
    const [listed] = (await (await h.request("/v1/models", { headers: key })).json()).data;
    expect(listed.id).toBe(h.agent.slug);
    expect(await read(h, h.agent.slug, key)).toEqual(listed);
    expect(await read(h, h.agent.slug, await h.as("viewer"))).toEqual(listed);
    for (const id of [other.slug, "unknown", "%00", "UPPER"]) expect(await read(h, id, key)).toBe("404 Unknown model");
    expect(await read(h, h.agent.slug, await h.as("viewer", { reach: false }))).toBe("404 Unknown model");
    expect(await read(h, h.agent.slug, {})).toBe("401 Missing Bearer token");
    await web(h, "DELETE");
    expect(await read(h, h.agent.slug, key)).toBe("404 Unknown model");
  });
});

test.each([
  "/v1/models",
  "/v1/models/agent-1",
  "/v1/models/unknown",
])("%s answers CORS for the key's agent", async (path) => {
  const h = await open();
  const from = async (Origin: string, headers: Record<string, string> = { Authorization: `Bearer ${h.agent.key}` }) => {
    const answer = await h.request(path, { headers: { Origin, ...headers } });
    return [answer.headers.get("Access-Control-Allow-Origin"), answer.headers.get("Vary")];
  };
  const page = "https://app.example";
  expect(await from(page)).toEqual([null, null]);
  await web(h, "PUT", { config: { allowedOrigins: [page] } });
  expect(await from(page)).toEqual([page, "Origin"]);
  expect(await from("https://evil.example")).toEqual([null, null]);
  expect(await from(page, h.agent.headers)).toEqual([null, null]);
  expect(await from(page, {})).toEqual([null, null]);
  await web(h, "DELETE");
  expect(await from(page)).toEqual([null, null]);

  const asks = {
    Origin: page,
    "Access-Control-Request-Method": "GET",
    "Access-Control-Request-Headers": "authorization",
  };
  const preflight = await h.request(path, { method: "OPTIONS", headers: asks });
  expect([preflight.status, preflight.headers.get("Access-Control-Allow-Origin")]).toEqual([204, page]);
  expect(preflight.headers.get("Access-Control-Allow-Headers")).toBe("authorization");
});

test("a session that finds no model at the completions endpoint is told where sessions chat", async () => {
  const h = await open();
  const answer = async (headers: Record<string, string>) => {
    const refused = await h.complete("Hi", { model: "unknown" }, { headers });
    return [refused.status, (await refused.json()).message];
  };
  const told = expect.stringMatching(/^Unknown model: .* POST \/api\/instances\/\{slug\}\/playground\/stream$/);
  expect(await answer(h.agent.headers)).toEqual([404, told]);
  expect(await answer({ Authorization: "Bearer aes_unknown" })).toEqual([404, told]);
  expect(await answer({})).toEqual([404, "Unknown model"]);
  await web(h, "DELETE");
  expect(await answer(h.agent.headers)).toEqual([404, told]);
});

describe("whose turn it is", () => {
  const publicly = async () => {
    const h = await open();
    await web(h, "PUT", { config: { requireAuthentication: false }, enabled: true });
    /** The subject of a turn that claims ada's user id. */
    const subject = async (door: "complete" | "native", headers: Record<string, string>) => {
      const answer = await h[door]("Hi", { chat_id: "c", user: "ada" }, { headers });
      expect(answer.status).toBe(200);
      await answer.text();
      return (await h.stored()).turns.at(-1)?.subject;
    };
    return { h, subject, own: `conversation:${h.agent.slug}:web:api-c` };
  };

  test.each([
    "complete",
    "native",
  ] as const)("is what the holder of the key says, also where none is asked for (%s)", async (door) => {
    const { subject, own } = await publicly();
    expect(await subject(door, bare)).toBe(own);
    expect(await subject(door, { Authorization: "Bearer wrong" })).toBe(own);
    expect(await subject(door, {})).toBe("web:ada");
    // The key is enough for a page that is not in the list.
    expect(await subject(door, { Origin: "https://elsewhere.example" })).toBe("web:ada");
  });

  test("is not told by who tries keys until one changes it", async () => {
    const { h, subject, own } = await publicly();
    const from = { "X-Forwarded-For": "203.0.113.7" };
    for (let guess = 0; guess < 20; guess += 1) {
      expect(await subject("native", { ...from, Authorization: `Bearer guess-${guess}` })).toBe(own);
    }
    const right = { Authorization: `Bearer ${h.agent.key}` };
    expect(await subject("native", { ...from, ...right })).toBe(own);
    expect(await subject("native", { ...right, "X-Forwarded-For": "203.0.113.8" })).toBe("web:ada");
    await h.clock.advance(60_000);
    expect(await subject("native", { ...from, ...right })).toBe("web:ada");
  });
});

describe("CHAT_REQUESTS_PER_MINUTE", () => {
  const statuses = async (chatRequestsPerMinute: number, calls: number) => {
    const h = await chatHarness(
      scriptedModel(() => reply("ok")),
      {},
      { chatRequestsPerMinute },
    );
    const headers = { "X-Forwarded-For": "203.0.113.7" };
    const found: number[] = [];
    for (let call = 0; call < calls; call += 1) found.push((await h.complete("Hi", {}, { headers })).status);
    return found;
  };

  test("is the limit of one client address", async () => {
    expect(await statuses(2, 4)).toEqual([200, 200, 429, 429]);
  });

  test("of 0 is none", async () => {
    expect(await statuses(0, 30)).toEqual(Array(30).fill(200));
  });
});
