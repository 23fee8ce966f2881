import { describe, expect, test } from "vitest";
import { defaultPolicies, type PolicyChanges } from "../../../src/core/policies.ts";
import type { ModelSpec } from "../../../src/core/ports.ts";
import { loadAgent } from "../../../src/features/turns/agent/load.ts";
import { answeringFor } from "../../../src/features/turns/agent/model.ts";
import { prepare } from "../../../src/features/turns/prepare.ts";
import { type Harness, harness } from "../../harness.ts";
import { finish, scriptedModel, text } from "../../scripted-model.ts";
import { onlyModel } from "../../turn/input.ts";
import { chatHarness } from "../chat/chat.ts";

async function setPolicies(h: Pick<Harness, "as" | "request">, json: PolicyChanges) {
  const headers = { ...(await h.as("owner")), "X-Organization": "acme" };
  const response = await h.request("/api/installation/policies", { method: "PATCH", headers, json });
  expect(response.status).toBe(200);
}

test("the rate limit counts from the next call on", async () => {
  const h = await harness();
  const owner = await h.as("owner");
  const call = () => h.request("/api/me", { headers: owner });
  expect((await call()).headers.get("X-RateLimit-Limit")).toBe("600");
  await setPolicies(h, { rateLimit: { limit: 10, windowSeconds: 3600 } });
  for (let calls = 2; calls <= 10; calls += 1) {
    const answer = await call();
    expect([answer.status, answer.headers.get("X-RateLimit-Limit")]).toEqual([200, "10"]);
  }
  expect((await call()).status).toBe(429);
});

test("a caller who used up the rate limit, however often refused, still reads and repairs the policies", async () => {
  const h = await harness();
  const owner = await h.as("owner");
  const policies = (init: { method?: string; json?: unknown } = {}) =>
    h.request("/api/installation/policies", { ...init, headers: owner });
  const change = (rateLimit: PolicyChanges["rateLimit"]) => policies({ method: "PATCH", json: { rateLimit } });
  await change({ limit: 10, windowSeconds: 3600 });
  const me = async () => (await h.request("/api/me", { headers: owner })).status;
  const statuses = await Promise.all(Array.from({ length: 80 }, me));
  expect(statuses.filter((status) => status === 429)).toHaveLength(70);
  const shown = await policies();
  expect([shown.status, shown.headers.get("X-RateLimit-Limit")]).toEqual([200, "60"]);
  expect((await change({ limit: 600 })).status).toBe(200);
  expect(await me()).toBe(200);
});

test("reading policies has a limit too: 60 calls a window, or what the policy gives if that is more", async () => {
  const h = await harness();
  const owner = await h.as("owner");
  await setPolicies(h, { rateLimit: { limit: 10 } });
  const read = async () => (await h.request("/api/installation/policies", { headers: owner })).status;
  const statuses = await Promise.all(Array.from({ length: 62 }, read));
  expect(statuses.filter((status) => status === 429)).toHaveLength(2);
  await setPolicies(h, { rateLimit: { limit: 70 } });
  expect(await read()).toBe(200);
});

test("the public address is one whose pages may use the cookie", async () => {
  const h = await harness();
  const { Authorization = "" } = await h.as("owner");
  const headers = {
    Cookie: `agent_engine.session_token=${Authorization.slice("Bearer ".length)}`,
    Origin: "https://tea.example",
  };
  const write = async () =>
    (await h.request("/api/installation/policies", { method: "PATCH", headers, json: {} })).status;
  expect(await write()).toBe(403);
  await setPolicies(h, { publicAddress: "https://tea.example" });
  expect(await write()).toBe(200);
});

describe("the model of a turn", () => {
  /** An agent, and the models that were resolved for its turns. */
  async function start(fields: Record<string, unknown>, environmentKeys: Record<string, string> = {}) {
    const specs: ModelSpec[] = [];
    const model = scriptedModel(() => ({ parts: [...text("ok"), finish()] }));
    const models = {
      resolve: async (spec: ModelSpec) => {
        specs.push(spec);
        return model;
      },
    };
    const h = await chatHarness(undefined, fields, { models, environmentKeys });
    const used = async () => {
      expect((await h.complete("Hi")).status).toBe(200);
      return specs.at(-1);
    };
    return { h, used };
  }

  const unset = { provider: null, model: null };

  test("is the agent's, else the policy's, else that of the first provider with a key, else the demo", async () => {
    const { h, used } = await start(unset, { mistral_api_key: "sk-m" });
    expect(await used()).toMatchObject({ provider: "mistral", model: "mistral-medium-latest", apiKey: "sk-m" });
    await setPolicies(h, { defaultModel: "ollama:qwen3:8b" });
    expect(await used()).toMatchObject({ provider: "ollama", model: "qwen3:8b", apiKey: undefined });
    await setPolicies(h, { defaultModel: null, environmentKeys: "none" });
    expect(await used()).toMatchObject({ provider: "demo", model: "demo" });

    await setPolicies(h, { defaultModel: "ollama:qwen3:8b" });
    const update = (json: object) =>
      h.request(`/api/instances/${h.agent.slug}`, { method: "PATCH", headers: h.agent.headers, json });
    await update({ provider: "ollama" });
    expect(await used()).toMatchObject({ provider: "ollama", model: "qwen3:8b" });
    await update({ provider: "openai" });
    expect(await used()).toMatchObject({ provider: "openai", model: "gpt-5-mini" });
    await update({ provider: null, model: "llama" });
    expect(await used()).toMatchObject({ provider: "ollama", model: "llama" });
    await update({ model: "anthropic:m" });
    expect(await used()).toMatchObject({ provider: "anthropic", model: "m" });
  });

  test("uses the environment's keys and addresses where the policy lets it, from the next turn on", async () => {
    const environment = { openai_api_key: "sk-e", openai_base_url: "http://e" };
    const { h, used } = await start({ provider: "openai", model: "m" }, environment);
    const whole = { provider: "openai", model: "m", apiKey: "sk-e", baseUrl: "http://e" };
    expect(await used()).toEqual(whole);
    await setPolicies(h, { environmentKeys: "first-organization" });
    expect(await used()).toEqual(whole);
    await setPolicies(h, { environmentKeys: "none" });
    expect(await used()).toEqual({ ...whole, apiKey: undefined, baseUrl: undefined });
    const secrets = [{ key: "openai_api_key", value: "sk-own" }];
    await h.request(`/api/instances/${h.agent.slug}/secrets`, {
      method: "PUT",
      headers: h.agent.headers,
      json: { secrets },
    });
    expect(await used()).toEqual({ ...whole, apiKey: "sk-own", baseUrl: undefined });
  });

  test("another organization's agents have them only where all have, and its catalogue says so", async () => {
    const h = await harness({ environmentKeys: { openai_api_key: "sk-e", ollama_base_url: "http://o" } });
    const other = await h.createOrganization("other");
    const [own, foreign] = [await h.as("owner"), await h.as("owner", { organization: other })];
    for (const [slug, headers] of [
      ["mine", own],
      ["theirs", foreign],
    ] as const) {
      const json = { slug, provider: "openai", model: "m" };
      expect((await h.request("/api/instances", { method: "POST", headers, json })).status).toBe(201);
    }
    const keys = async () => {
      const loaded = await Promise.all(["mine", "theirs"].map((slug) => loadAgent(h.services, slug)));
      return loaded.map((agent) => agent && answeringFor(h.services, agent, "chat").models[0]?.spec.apiKey);
    };
    const configured = async () => {
      const catalogues = [own, foreign].map(async (headers) => {
        const { providers } = await (await h.request("/api/instances/models", { headers })).json();
        return Object.keys(providers).filter((name) => providers[name].configured);
      });
      return Promise.all(catalogues);
    };
    const withKeys = ["openai", "ollama", "demo"];
    expect([await keys(), await configured()]).toEqual([
      ["sk-e", "sk-e"],
      [withKeys, withKeys],
    ]);
    await setPolicies(h, { environmentKeys: "first-organization" });
    expect([await keys(), await configured()]).toEqual([
      ["sk-e", undefined],
      [withKeys, ["demo"]],
    ]);
    await setPolicies(h, { environmentKeys: "none" });
    expect([await keys(), await configured()]).toEqual([
      [undefined, undefined],
      [["demo"], ["demo"]],
    ]);
  });

  test("an environment's key stays blotted out for agents that may not use it", async () => {
    const h = await harness({ environmentKeys: { openai_api_key: "sk-environment" } });
    const { slug } = await h.agent();
    await setPolicies(h, { environmentKeys: "none" });
    const agent = await loadAgent(h.services, slug);
    expect(agent?.scrub("it is sk-environment")).not.toContain("sk-environment");
  });
});

describe("the time that is given", () => {
  const never = new Promise(() => {});

  test("to a turn is the policy's at its start", async () => {
    const model = scriptedModel(() => ({ parts: [never] }));
    const h = await chatHarness(model);
    await setPolicies(h, { modelTimeoutSeconds: 5 });
    const asked = h.complete("Hi");
    await model.called(1);
    await h.clock.advance(5_000);
    expect(await (await asked).json()).toMatchObject({ statusCode: 504 });
  });

  test("to turn and tool is taken from the policies of the moment, also for an agent that is cached", async () => {
    const h = await harness();
    const { slug } = await h.agent();
    const agent = await loadAgent(h.services, slug);
    if (!agent) throw new Error("There is no agent");
    const limits = () => {
      const origin = { channel: "web", channelId: "c", source: "user", depth: 0, subject: "web:s" } as const;
      const model = scriptedModel([]);
      return prepare({
        turnId: "t",
        agent,
        request: {
          door: "native",
          origin,
          ref: "",
          stored: false,
          rule: "always-finish",
          requestId: "r",
          throttle: null,
          input: { history: [], fresh: ["Hi"] },
        },
        conversation: null,
        transcript: { history: [], historyBytes: 0, state: {}, begins: true },
        policies: h.services.policies.values,
        now: h.clock.now(),
        memories: "",
        models: onlyModel({ provider: "demo", model: "m" }, model),
        images: [],
        continued: null,
        reserve: null,
      }).limits;
    };
    const { modelTimeoutSeconds, toolTimeoutSeconds } = defaultPolicies;
    expect(limits()).toMatchObject({ turnMs: modelTimeoutSeconds * 1000, toolMs: toolTimeoutSeconds * 1000 });
    await setPolicies(h, { modelTimeoutSeconds: 7, toolTimeoutSeconds: 8 });
    expect(limits()).toMatchObject({ turnMs: 7_000, toolMs: 8_000 });
  });
});
