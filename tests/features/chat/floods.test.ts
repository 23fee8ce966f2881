import { describe, expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { reply, scriptedModel } from "../../scripted-model.ts";
import { spyOnStatements } from "../../statements.ts";
import { type ChatHarness, chatHarness } from "./chat.ts";

const silent = () => scriptedModel([]);

test("so many parts in all are refused before each is looked at", async () => {
  const h = await chatHarness(silent());
  const content = Array.from({ length: 600 }, () => ({}));
  const messages = [1, 2].map(() => ({ role: "user", content }));
  const refused = await h.post("/v1/chat/completions", { model: h.agent.slug, messages });
  expect([refused.status, (await refused.json()).message]).toEqual([
    400,
    "messages: must hold at most 1000 parts in all",
  ]);
});

test("nesting without end is no JSON", async () => {
  const h = await chatHarness(silent());
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: "[".repeat(1_000_000) };
  expect((await h.request("/v1/chat/completions", init)).status).toBe(400);
});

test("a client that used up the fixed throttle may ask again in a minute, also when the clock is set back meanwhile", async () => {
  const h = await chatHarness(scriptedModel(() => reply("Hi")));
  const headers = { "X-Forwarded-For": "203.0.113.9" };
  const ask = async () => (await h.complete("Hi", {}, { headers })).status;
  for (let call = 0; call < 20; call += 1) expect(await ask()).toBe(200);
  expect(await ask()).toBe(429);
  h.clock.setBack(60 * 60_000);
  expect(await ask()).toBe(429);
  await h.clock.advance(60_000);
  expect(await ask()).toBe(200);
});

test("a client that used up the fixed throttle is refused without reading its body, until its window ends", async () => {
  const h = await chatHarness(silent());
  const ask = (body: string) =>
    h.request("/v1/chat/completions", {
      method: "POST",
      headers: { "X-Forwarded-For": "203.0.113.9", "Content-Type": "application/json" },
      body,
    });
  for (let call = 0; call < 20; call += 1) expect((await ask("{}")).status).toBe(400);
  expect((await ask("{}")).status).toBe(429);
  const queries: string[] = [];
  const { database } = h.services;
  const query = database.query.bind(database);
  database.query = (text, parameters) => {
    queries.push(text);
    return query(text, parameters);
  };
  await h.clock.advance(10_000);
  const refused = await ask("[");
  expect([refused.status, refused.headers.get("Retry-After"), queries]).toEqual([429, "50", []]);
  await h.clock.advance(50_000);
  expect((await ask("[")).status).toBe(400);
});

describe("calls that the agent refuses", () => {
  type Call = (h: ChatHarness) => Promise<Response>;
  const web =
    (config: object, enabled = true) =>
    (h: ChatHarness) =>
      h.request(`/api/instances/${h.agent.slug}/channels/web`, {
        method: "PUT",
        headers: h.agent.headers,
        json: { config, enabled },
      });
  const bearing = (Authorization: string, more = {}) => ({ headers: { Authorization, ...more } });
  const ofTurn = (method: string) => (h: ChatHarness) =>
    h.request(`/api/instances/${h.agent.slug}/chat/stream/${newId()}`, { method, ...bearing("Bearer wrong") });

  test.each<[string, (h: ChatHarness) => Promise<Response>, Call]>([
    ["a wrong key", web({}), (h) => h.native("Hi", {}, bearing("Bearer wrong"))],
    ["no key", web({}), (h) => h.native("Hi", {}, bearing(""))],
    ["a wrong key for a stream", web({}), ofTurn("GET")],
    ["a wrong key for a stop", web({}), ofTurn("DELETE")],
    [
      "a foreign page",
      web({ requireAuthentication: false }),
      (h) => h.native("Hi", {}, bearing("", { Origin: "https://elsewhere.example" })),
    ],
    ["a context of which nothing is mapped", web({}), (h) => h.native("Hi", { chat_id: "c", context: {} })],
    ["a channel that is off", web({}, false), (h) => h.native("Hi")],
  ])("for %s are looked into once a second", async (_, given, call) => {
    const h = await chatHarness(scriptedModel(() => reply("Hi.")));
    expect((await given(h)).status).toBe(200);
    // The agent is cached now.
    await (await call(h)).text();
    const statements = spyOnStatements(h.services.database);
    const costs: number[] = [];
    for (let second = 0; second < 2; second += 1) {
      for (let n = 0; n < 20; n += 1) {
        const before = statements.texts().length;
        await (await call(h)).text();
        costs.push(statements.texts().length - before);
      }
      await h.clock.advance(1_000);
    }
    const looks = costs.filter((cost) => cost > 0);
    expect([looks.length, Math.max(...looks) < 12]).toEqual([2, true]);
  });
});

describe("who used up his limit with calls that were answered", () => {
  const headers = { "X-Forwarded-For": "203.0.113.9" };

  test.each<[string, (h: ChatHarness) => Promise<Response>]>([
    ["completions", (h) => h.complete("Hi", {}, { headers })],
    ["native", (h) => h.native("Hi", {}, { headers })],
  ])("is refused without a statement at the door %s, until its window ends", async (_, call) => {
    const h = await chatHarness(scriptedModel(() => reply("Hi.")));
    const rateLimit = { limit: 20, windowSeconds: 60 };
    h.services.policies.set({ ...h.services.policies.values, rateLimit });
    for (let n = 0; n < 20; n += 1) {
      const answered = await call(h);
      expect(answered.status).toBe(200);
      await answered.text();
    }
    // OPEN refuses this one.
    expect((await call(h)).status).toBe(429);
    await h.clock.advance(10_000);
    const statements = spyOnStatements(h.services.database);
    const refused = await call(h);
    expect([refused.status, refused.headers.get("Retry-After"), statements.texts()]).toEqual([429, "50", []]);
    statements.restore();
    await h.clock.advance(50_000);
    expect((await call(h)).status).toBe(200);
  });
});
