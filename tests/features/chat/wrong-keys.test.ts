import { describe, expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { reply, scriptedModel } from "../../scripted-model.ts";
import { spyOnStatements } from "../../statements.ts";
import { type ChatHarness, chatHarness } from "./chat.ts";

const open = () => chatHarness(scriptedModel(() => reply("ok")));
const address = "203.0.113.7";
const message = /^Too many wrong API keys: try again in \d+ seconds$/;

/** The headers of a call from one address, with this key. */
const bearing = (key: string, from = address) => ({ Authorization: `Bearer ${key}`, "X-Forwarded-For": from });

const web = (h: ChatHarness, config: object) =>
  h.request(`/api/instances/${h.agent.slug}/channels/web`, {
    method: "PUT",
    headers: h.agent.headers,
    json: { config, enabled: true },
  });

type Call = (h: ChatHarness, headers: Record<string, string>) => Promise<Response>;
const stream = (h: ChatHarness, method: string, headers: Record<string, string>) =>
  h.request(`/api/instances/${h.agent.slug}/chat/stream/${newId()}`, { method, headers });

const doors: Record<string, Call> = {
  native: (h, headers) => h.native("Hi", {}, { headers }),
  models: (h, headers) => h.request("/v1/models", { headers }),
  model: (h, headers) => h.request(`/v1/models/${h.agent.slug}`, { headers }),
  resume: (h, headers) => stream(h, "GET", headers),
  stop: (h, headers) => stream(h, "DELETE", headers),
};

const isLogged = ({ logs }: ChatHarness) => logs.filter((line) => line.includes("wrong API keys")).length;

describe("wrong keys", () => {
  test.each(
    Object.entries(doors),
  )("at the door %s are refused past 20 a minute, and the first time logged", async (_, call) => {
    const h = await open();
    for (let guess = 0; guess < 20; guess += 1) expect((await call(h, bearing(`guess-${guess}`))).status).toBe(401);
    expect(isLogged(h)).toBe(0);
    for (let guess = 20; guess < 25; guess += 1) {
      const refused = await call(h, bearing(`guess-${guess}`));
      expect([refused.status, (await refused.json()).message]).toEqual([429, expect.stringMatching(message)]);
      expect(Object.fromEntries(refused.headers)).toMatchObject({
        "retry-after": "60",
        "x-ratelimit-limit": "20",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": "60",
      });
    }
    expect(isLogged(h)).toBe(1);
    expect(h.logs.some((line) => line.includes("guess-"))).toBe(false);
    // The address is blocked, not the endpoint.
    expect((await call(h, bearing(h.agent.key, "203.0.113.8"))).status).not.toBe(429);
    await h.clock.advance(60_000);
    expect((await call(h, bearing("guess"))).status).toBe(401);
  });

  test("count at the completions endpoint too, also while its own throttle is off", async () => {
    const h = await chatHarness(
      scriptedModel(() => reply("ok")),
      {},
      { chatRequestsPerMinute: 0 },
    );
    const statuses: number[] = [];
    for (let guess = 0; guess < 22; guess += 1) {
      statuses.push((await h.complete("Hi", {}, { headers: bearing(`guess-${guess}`) })).status);
    }
    expect(statuses).toEqual([...Array(20).fill(401), 429, 429]);
    expect((await doors.native?.(h, bearing("another")))?.status).toBe(429);
  });

  test("count for a context, and from a page that only a key lets in", async () => {
    const h = await open();
    await web(h, { requireAuthentication: false, contextMapping: { a: "b" } });
    const withContext = (key: string) => h.native("Hi", { chat_id: "c", context: { b: 1 } }, { headers: bearing(key) });
    const fromPage = (key: string) =>
      h.native("Hi", {}, { headers: { ...bearing(key), Origin: "https://elsewhere.example" } });
    const statuses: number[] = [];
    for (let guess = 0; guess < 10; guess += 1) {
      statuses.push((await withContext(`guess-${guess}`)).status, (await fromPage(`guess-${guess}`)).status);
    }
    expect(statuses).toEqual(Array(10).fill([401, 403]).flat());
    const after = [await withContext("guess"), await fromPage("guess"), await withContext(h.agent.key)];
    expect([...after, await fromPage(h.agent.key)].map(({ status }) => status)).toEqual([429, 429, 429, 429]);
    // A caller of an open agent needs no key.
    expect((await h.native("Hi", {}, { headers: bearing("guess") })).status).toBe(200);
  });

  test("are those of the whole /64 of an IPv6 address", async () => {
    const h = await open();
    const from = (n: number) => bearing("guess", `2001:db8:0:1::${n}`);
    for (let guess = 1; guess <= 20; guess += 1)
      expect((await h.native("Hi", {}, { headers: from(guess) })).status).toBe(401);
    expect((await h.native("Hi", {}, { headers: from(99) })).status).toBe(429);
    expect((await h.native("Hi", {}, { headers: bearing("guess", "2001:db8:0:2::1") })).status).toBe(401);
  });
});

describe("a right key from an address that guesses", () => {
  const guessed = async (h: ChatHarness) => {
    for (let guess = 0; guess < 20; guess += 1) await h.native("Hi", {}, { headers: bearing(`guess-${guess}`) });
  };

  test.each(Object.entries(doors))("is refused as a wrong one is, at the door %s", async (_, call) => {
    const h = await open();
    await guessed(h);
    const [wrong, right] = [await call(h, bearing("guess")), await call(h, bearing(h.agent.key))];
    expect([right.status, await right.json()]).toEqual([wrong.status, await wrong.json()]);
    expect(right.status).toBe(429);
    await h.clock.advance(60_000);
    expect((await call(h, bearing(h.agent.key))).status).not.toBe(429);
  });

  test("counts where it was right before", async () => {
    const h = await open();
    expect((await h.native("Hi", {}, { headers: bearing(h.agent.key) })).status).toBe(200);
    await guessed(h);
    expect((await h.native("Hi", {}, { headers: bearing("guess") })).status).toBe(429);
    const headers = bearing(h.agent.key);
    const answers = [await h.native("Hi", {}, { headers }), await h.request("/v1/models", { headers })];
    expect([...answers, await h.complete("Hi", {}, { headers })].map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  test("counts no more where the one before it was right", async () => {
    const h = await open();
    const apiKey = "another-key-of-the-agent";
    expect((await h.native("Hi", {}, { headers: bearing(h.agent.key) })).status).toBe(200);
    expect((await web(h, { apiKey })).status).toBe(200);
    await guessed(h);
    const answers = [await h.native("Hi", {}, { headers: bearing(apiKey) }), await doors.models?.(h, bearing(apiKey))];
    expect(answers.map((answer) => answer?.status)).toEqual([429, 429]);
  });

  test("counts for the other agents, until those were guessed at too", async () => {
    const h = await open();
    const [other, third] = [await h.anotherAgent(), await h.anotherAgent()];
    const say = ({ slug }: { slug: string }, key: string) =>
      h.post(
        `/api/instances/${slug}/chat/stream`,
        { messages: [{ role: "user", content: "Hi" }] },
        { headers: bearing(key) },
      );
    await guessed(h);
    expect((await say(other, "guess")).status).toBe(429);
    expect((await say(other, other.key)).status).toBe(200);
    expect((await h.request("/v1/models", { headers: bearing(other.key) })).status).toBe(200);
    // A call refused because of guesses at other agents counts as one.
    for (let guess = 0; guess < 20; guess += 1) expect((await say(third, `guess-${guess}`)).status).toBe(429);
    expect((await say(third, third.key)).status).toBe(429);
  });
});

describe("/v1/models", () => {
  const models = (h: ChatHarness, key: string, Origin?: string) =>
    h.request("/v1/models", { headers: { ...bearing(key), ...(Origin ? { Origin } : {}) } });

  test("looks up no key from where 20 were wrong, but one that was right there", async () => {
    const h = await open();
    for (let guess = 0; guess < 20; guess += 1) await models(h, `guess-${guess}`);
    const statements = spyOnStatements(h.services.database);
    const refused = [await models(h, "guess"), await models(h, h.agent.key)];
    expect(refused.map(({ status }) => status)).toEqual([429, 429]);
    expect(statements.texts()).toEqual([]);
    statements.restore();
    expect((await h.native("Hi", {}, { headers: bearing(h.agent.key) })).status).toBe(200);
    expect((await models(h, h.agent.key)).status).toBe(200);
  });

  test("lets a page of the agent read the 429 of its key", async () => {
    const h = await open();
    const origin = "https://page.example";
    expect((await web(h, { allowedOrigins: [origin] })).status).toBe(200);
    for (let guess = 0; guess < 20; guess += 1) await h.native("Hi", {}, { headers: bearing(`guess-${guess}`) });
    const answers = [await models(h, h.agent.key, origin), await models(h, "guess", origin)];
    expect(answers.map(({ status, headers }) => [status, headers.get("Access-Control-Allow-Origin")])).toEqual([
      [429, origin],
      [429, null],
    ]);
  });
});

test.each(
  Object.entries(doors),
)("wrong keys count as calls at the door %s, whatever else they are", async (_, call) => {
  const h = await open();
  h.services.policies.set({ ...h.services.policies.values, rateLimit: { limit: 30, windowSeconds: 60 } });
  const messages: string[] = [];
  for (let guess = 0; guess < 31; guess += 1) {
    const refused = await call(h, bearing(`guess-${guess}`));
    messages.push((await refused.json()).message);
  }
  expect(messages.slice(29)).toEqual([expect.stringMatching(message), expect.stringMatching(/^Too many requests/)]);
});
