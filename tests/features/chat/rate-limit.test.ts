import { describe, expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { reply, scriptedModel } from "../../scripted-model.ts";
import { spyOnStatements } from "../../statements.ts";
import { type ChatHarness, chatHarness } from "./chat.ts";

const address = "203.0.113.7";

/** An agent in an installation with a limit of 10 calls a minute. */
async function limited(fields: Record<string, unknown> = {}) {
  const h = await chatHarness(
    scriptedModel(() => reply("ok")),
    fields,
  );
  const { policies } = h.services;
  policies.set({ ...policies.values, rateLimit: { limit: 10, windowSeconds: 60 } });
  return h;
}

const open = (h: ChatHarness) =>
  h.request(`/api/instances/${h.agent.slug}/channels/web`, {
    method: "PUT",
    headers: h.agent.headers,
    json: { config: { requireAuthentication: false }, enabled: true },
  });
const bearing = (key: string, from = address) => ({
  Authorization: key === "" ? "" : `Bearer ${key}`,
  "X-Forwarded-For": from,
});

const stream = (h: ChatHarness, method: string, headers: Record<string, string>) =>
  h.request(`/api/instances/${h.agent.slug}/chat/stream/${newId()}`, { method, headers });

type Call = (h: ChatHarness, headers: Record<string, string>) => Promise<Response>;
const doors: Record<string, Call> = {
  native: (h, headers) => h.native("Hi", {}, { headers }),
  "native, with a wrong body": (h, headers) => h.native("Hi", { messages: [] }, { headers }),
  models: (h, headers) => h.request("/v1/models", { headers }),
  model: (h, headers) => h.request("/v1/models/unknown", { headers }),
  resume: (h, headers) => stream(h, "GET", headers),
  stop: (h, headers) => stream(h, "DELETE", headers),
};

/** The statuses of this many calls. */
async function statuses(calls: number, call: () => Promise<Response>): Promise<number[]> {
  const found: number[] = [];
  for (let n = 0; n < calls; n += 1) {
    const response = await call();
    await response.text();
    found.push(response.status);
  }
  return found;
}

describe("the policy rateLimit", () => {
  test.each(Object.entries(doors))("counts %s by the agent's key and the client's address", async (_, call) => {
    const h = await limited();
    const other = await h.anotherAgent();
    const headers = bearing(h.agent.key);
    const found = await statuses(10, () => call(h, headers));
    expect(found).not.toContain(429);
    const refused = await call(h, headers);
    expect([refused.status, (await refused.json()).message]).toEqual([
      429,
      expect.stringMatching(/^Too many requests/),
    ]);
    expect(Object.fromEntries(refused.headers)).toMatchObject({ "x-ratelimit-limit": "10", "retry-after": "60" });
    expect((await call(h, bearing(h.agent.key, "203.0.113.8"))).status).not.toBe(429);
    expect((await h.request("/v1/models", { headers: bearing(other.key) })).status).toBe(200);
    await h.clock.advance(60_000);
    expect((await call(h, headers)).status).not.toBe(429);
  });

  test.each(Object.entries(doors))("counts %s without credentials by the address", async (_, call) => {
    const h = await limited();
    expect(await statuses(12, () => call(h, bearing("")))).toEqual([...Array(10).fill(401), 429, 429]);
    expect((await call(h, bearing("", "203.0.113.8"))).status).toBe(401);
    expect((await call(h, bearing(h.agent.key))).status).not.toBe(429);
  });

  test("counts calls of management routes without credentials by the address", async () => {
    const h = await limited();
    const headers = { "X-Forwarded-For": address };
    expect(await statuses(12, () => h.request("/api/instances", { headers }))).toEqual([
      ...Array(10).fill(401),
      429,
      429,
    ]);
    expect((await h.request("/api/instances", { headers: { ...headers, ...h.agent.headers } })).status).toBe(200);
  });

  test("counts an agent that asks for no key by the address", async () => {
    const h = await limited();
    await open(h);
    expect(await statuses(12, () => h.native("Hi", {}, { headers: bearing("") }))).toEqual([
      ...Array(10).fill(200),
      429,
      429,
    ]);
    expect((await h.native("Hi", {}, { headers: bearing(h.agent.key) })).status).toBe(200);
  });

  test("leaves no trace of a turn that it refuses, and no context", async () => {
    const h = await limited();
    const json = { config: { contextMapping: { a: "b" } } };
    await h.request(`/api/instances/${h.agent.slug}/channels/web`, { method: "PUT", headers: h.agent.headers, json });
    await statuses(10, () => h.native("Hi", { chat_id: "c" }, { headers: bearing(h.agent.key) }));
    const before = await h.stored();
    const asked = { headers: bearing(h.agent.key) };
    expect((await h.native("Hi", { chat_id: "c" }, asked)).status).toBe(429);
    expect((await h.native("Hi", { chat_id: "c", context: { b: 1 } }, asked)).status).toBe(429);
    expect(await h.stored()).toEqual(before);
  });

  test("costs a turn no statement", async () => {
    const h = await limited({ memoryEnabled: false });
    const say = async () => (await h.native("Hi", { chat_id: "c" }, { headers: bearing(h.agent.key) })).text();
    await say();
    const statements = spyOnStatements(h.services.database);
    await say();
    expect(statements.texts()).toHaveLength(2);
  });

  test("does not count the playground and completions twice", async () => {
    const h = await limited();
    const playground = `/api/instances/${h.agent.slug}/playground/stream`;
    const json = { messages: [{ role: "user", content: "Hi" }] };
    const headers = await h.as("owner");
    expect(await statuses(11, () => h.request(playground, { method: "POST", headers, json }))).toEqual([
      ...Array(10).fill(200),
      429,
    ]);
    const asked = { headers: bearing(h.agent.key) };
    expect(await statuses(12, () => h.complete("Hi", {}, asked))).toEqual(Array(12).fill(200));
  });
});
