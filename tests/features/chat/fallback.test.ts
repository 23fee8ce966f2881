import { APICallError } from "@ai-sdk/provider";
import { asc, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { unmeasured } from "../../../src/core/meters.ts";
import { Fallbacks } from "../../../src/core/models/fallbacks.ts";
import type { ModelSpec } from "../../../src/core/ports.ts";
import { auditLogs } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { embedderFor } from "../../../src/features/turns/agent/embedder.ts";
import type { LiveAgent } from "../../../src/features/turns/agent/load.ts";
import { loadAgent } from "../../../src/features/turns/agent/load.ts";
import { finish, reasoning, reply, type ScriptedModel, scriptedModel, toolCall } from "../../scripted-model.ts";
import { asking, ownTurns } from "../../turns.ts";
import { watch } from "../activity/watch.ts";
import { metricsToken, samplesOf, scrape } from "../metrics/scrape.ts";
import { asking as asked, askOnce } from "./asking.ts";
import { type ChatHarness, chatHarness, dataLines, eventually, readEvents } from "./chat.ts";
import { providersOf } from "./connections.ts";

/** The provider's own words, which nobody may read but the operator and who debugs the agent. */
const words = "CANARY of the provider";

const refusal = (statusCode: number) =>
  new APICallError({
    message: words,
    url: "https://provider.example",
    requestBodyValues: {},
    statusCode,
    responseBody: `${words}: key-of-primary is unknown`,
  });

const failing = () => scriptedModel(() => ({ fail: refusal(503) }));
const answering = () => scriptedModel(() => reply("from the backup"));

/** An agent with a bound connection and a fallback, each with its model. */
async function world(primary: ScriptedModel = failing(), backup: ScriptedModel = answering(), fields: object = {}) {
  const resolve = async ({ apiKey }: ModelSpec) => (apiKey === "key-of-primary" ? primary : backup);
  const own = { provider: null, model: null, memoryEnabled: false };
  const h = await chatHarness(undefined, { ...own, ...fields }, { models: { resolve }, metricsToken });
  const providers = providersOf(h);
  const ids = {
    primary: await providers.connect("primary", { provider: "openai" }),
    backup: await providers.connect("backup", { provider: "mistral" }),
  };
  const bind = (role: "chat" | "fast" | "embedding", model: string, ofBackup = model) =>
    providers.bind(h.agent.slug, role, ids.primary, {
      model,
      fallbacks: [{ connectionId: ids.backup, model: ofBackup }],
    });
  await bind("chat", "gpt", "large");
  const audited = () =>
    h.services.database.db
      .select()
      .from(auditLogs)
      .where(eq(auditLogs.action, "provider.fallback"))
      .orderBy(asc(auditLogs.createdAt), asc(auditLogs.id));
  const counted = async () => samplesOf(await scrape(h), "agent_engine_provider_fallbacks_total");
  return { ...h, primary, backup, ids, bind, audited, counted };
}

const modelsOf = ({ ids }: Awaited<ReturnType<typeof world>>) => ({
  primary: { connectionId: ids.primary, connection: "primary", provider: "openai", model: "gpt" },
  backup: { connectionId: ids.backup, connection: "backup", provider: "mistral", model: "large" },
});

test("a provider that fails is replaced at each chat door, and the turn, its message and its operators know", async () => {
  const h = await world(failing(), answering(), { debugEnabled: true });
  const seen = watch(h);
  const asked = { headers: { "Idempotency-Key": "once" } };
  const events = await readEvents(await h.native("Hi", { chat_id: "c" }, asked));
  expect(events.map(({ event }) => event)).toEqual(["step-start", "text-delta", "step-finish", "done"]);
  expect(events.at(-1)?.data).not.toHaveProperty("metadata");
  const repeated = await readEvents(await h.native("Hi", { chat_id: "c" }, asked));
  expect(repeated.map(({ data }) => data.text ?? "").join("")).toBe("from the backup");
  expect([h.primary.calls.length, h.backup.calls.length]).toEqual([1, 1]);
  const whole = await (await h.complete("Hi", { chat_id: "c" })).text();
  const lines = dataLines(await (await h.complete("Hi", { chat_id: "c", stream: true })).text());
  expect([whole, lines.join("")].every((answer) => answer.includes("from the backup"))).toBe(true);

  const { messages, turns } = await h.stored();
  const { backup } = modelsOf(h);
  const replies = messages.filter(({ role }) => role === "assistant");
  expect(replies.map(({ metadata }) => metadata)).toEqual(Array(3).fill({ model: [{ step: 0, ...backup }] }));
  expect(turns.map(({ provider, model }) => [provider, model])).toEqual(Array(3).fill(["mistral", "large"]));

  const address = `/api/conversations/${encodeURIComponent(`${h.agent.slug}:web:api-c`)}/turns/${turns[0]?.id}`;
  const { turn } = await (await h.request(address, { headers: h.agent.headers })).json();
  const failure = { code: "provider-failed", message: "Model provider error" };
  expect(turn.debug.steps).toMatchObject([
    {
      connection: "backup",
      provider: "mistral",
      model: "large",
      fallbacks: [{ connection: "primary", provider: "openai", model: "gpt", failure }],
    },
  ]);

  const told = seen.events().filter(({ conversation }) => Object(conversation).event === "fallback");
  const text = "primary (gpt) did not answer (Model provider error): backup (large) is called";
  expect(told).toMatchObject(Array(3).fill({ kind: "conversation", category: "conversation", channel: "web", text }));
  const code = { code: "provider-failed", from_provider: "openai", to_provider: "mistral" };
  expect(Object.entries(await h.counted())).toEqual([[expect.stringMatching(/openai.*mistral/), 3]]);
  const [entry, ...others] = await eventually(async () => {
    const entries = await h.audited();
    return entries.length > 0 && entries;
  });
  expect(others).toEqual([]);
  expect(entry).toMatchObject({
    target: h.agent.slug,
    actorType: "system",
    organizationId: h.organization.id,
    summary: { from: "primary (gpt)", to: "backup (large)", code: code.code },
  });
  const answers = JSON.stringify([events, repeated, whole, lines, seen.texts, entry, messages]);
  expect(answers).not.toMatch(/CANARY|key-of-/);
  expect(h.logs.filter((line) => line.includes("another one is called"))).toHaveLength(3);
  expect(h.logs.join("\n")).not.toContain("key-of-primary");
});

test("of many fallbacks within a minute one is audited, over all replicas; a resting connection is not called", async () => {
  const h = await world();
  const replica = createEngine({ ...h.services, meters: unmeasured, fallbacks: new Fallbacks(h.clock) });
  const askReplica = (n: number) =>
    replica.app.request(
      "/v1/chat/completions",
      {
        method: "POST",
        headers: {
          Authorization: `Bearer ${h.agent.key}`,
          "Content-Type": "application/json",
          "X-Forwarded-For": `203.0.113.${n}`,
        },
        body: JSON.stringify({ model: h.agent.slug, messages: [{ role: "user", content: "Hi" }] }),
      },
      { remoteAddress: "192.0.2.1" },
    );
  for (let n = 0; n < 10; n += 1) {
    const answers = await Promise.all([h.complete("Hi"), askReplica(n)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  }
  // Each process calls it three times.
  expect(h.primary.calls).toHaveLength(6);
  const codes = Object.entries(await h.counted()).map(([labels, count]) => [/code="([^"]*)/.exec(labels)?.[1], count]);
  expect(codes.sort()).toEqual([
    ["provider-failed", 3],
    ["resting", 7],
  ]);
  await eventually(async () => (await h.audited()).length === 1);
  await h.clock.advance(60_000);
  await h.complete("Hi");
  await eventually(async () => (await h.audited()).length === 2);
  expect(await h.audited()).toHaveLength(2);
});

test("a turn goes on after an approval with another model, which gets no reasoning of the one before", async () => {
  let down = true;
  const primary = scriptedModel(() => (down ? { fail: refusal(429) } : reply("from the primary")));
  const calling = [
    ...reasoning("I must ask."),
    ...toolCall("c", "setState", { key: "a", value: 1 }),
    finish("tool-calls"),
  ];
  const h = await world(primary, scriptedModel([{ parts: calling }]));
  const json = { enabled: ["setState"], needsApproval: ["setState"] };
  const { headers, slug } = h.agent;
  expect((await h.request(`/api/instances/${slug}/tools`, { method: "PATCH", headers, json })).status).toBe(200);
  const events = await readEvents(await h.native("Remember", { chat_id: "c" }));
  const { approval } = Object(events.at(-1)?.data.metadata);
  down = false;
  const path = `/api/conversations/${encodeURIComponent(`${slug}:web:api-c`)}/approvals/${approval.toolCallId}`;
  expect((await h.request(path, { method: "POST", headers, json: { approved: true } })).status).toBe(201);
  const messages = await eventually(async () => {
    const { messages } = await h.stored();
    return messages.length === 3 && messages;
  });

  const models = modelsOf(h);
  expect(messages.map(({ metadata }) => metadata)).toEqual([
    {},
    { approval, model: [{ step: 0, ...models.backup }] },
    { model: [{ step: 1, ...models.primary }] },
  ]);
  const prompt = JSON.stringify(primary.calls.at(-1)?.prompt);
  expect(prompt).toContain("setState");
  expect(prompt).not.toContain("I must ask.");
});

test("background work falls back too", async () => {
  const h = await world(
    failing(),
    scriptedModel(() => reply("Summed up.")),
  );
  await h.bind("fast", "small");
  const agent = await ofAgent(h);
  const { complete } = ownTurns({ ...h.services, meters: unmeasured });
  expect(await complete(agent.row, "Sum up.", asking())).toBe("Summed up.");
  expect(Object.values(await h.counted())).toEqual([1]);
  const [entry] = await eventually(async () => {
    const entries = await h.audited();
    return entries.length > 0 && entries;
  });
  expect(entry?.summary).toMatchObject({ from: "primary (small)", to: "backup (small)" });
});

const ofAgent = async ({ services, agent: { slug } }: ChatHarness): Promise<LiveAgent> => {
  const agent = await loadAgent(services, slug);
  if (!agent) throw new Error("The agent is gone");
  return agent;
};

test("embeddings fall back to the same model of another connection, and to no other", async () => {
  const h = await world();
  const called: (string | undefined)[] = [];
  const embed = async ({ apiKey }: ModelSpec) => {
    called.push(apiKey);
    if (apiKey === "key-of-primary") throw refusal(503);
    return { vectors: [[1]], tokens: 1 };
  };
  const { models, options } = h.services;
  const services = { ...h.services, models: { ...models, embed }, options: { ...options, vectors: true } };
  const { signal } = new AbortController();
  await h.bind("embedding", "e");
  expect(await embedderFor(services, await ofAgent(h))?.embed(["x"], signal)).toEqual([[1]]);
  await h.bind("embedding", "e", "other");
  await expect(embedderFor(services, await ofAgent(h))?.embed(["x"], signal)).rejects.toThrow("status 503");
  expect(called).toEqual(["key-of-primary", "key-of-backup", "key-of-primary"]);
  expect(Object.values(await h.counted())).toEqual([1]);
});

test("an agent that another one asks falls back too", async () => {
  const models = { caller: scriptedModel(askOnce), first: failing(), second: answering() };
  const resolve = async ({ model }: ModelSpec) => models[model as keyof typeof models];
  const h = await asked({ fields: { provider: null, model: null }, more: { models: { resolve } } });
  const providers = providersOf(h);
  const first = await providers.connect("first");
  const fallbacks = [{ connectionId: await providers.connect("second"), model: "second" }];
  await providers.bind("helper", "chat", first, { model: "first", fallbacks });
  await h.say("How long?");
  const { messages } = await h.helped();
  expect(messages.at(-1)).toMatchObject({
    content: "from the backup",
    metadata: { model: [{ step: 0, connection: "second", model: "second" }] },
  });
});
