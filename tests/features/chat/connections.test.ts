import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { localNotify } from "../../../src/core/notify.ts";
import type { ModelSpec } from "../../../src/core/ports.ts";
import { agents, providerConnections, turns } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { embedderFor } from "../../../src/features/turns/agent/embedder.ts";
import { loadAgent } from "../../../src/features/turns/agent/load.ts";
import { answeringFor } from "../../../src/features/turns/agent/model.ts";
import { finish, reply, type ScriptedModel, scriptedModel, text, toolCall } from "../../scripted-model.ts";
import { asking, ownTurns } from "../../turns.ts";
import { type ChatHarness, chatHarness, eventually, readEvents } from "./chat.ts";
import { providersOf } from "./connections.ts";

const unusable = "The agent's provider connection is not usable";

/** An agent without a provider of its own, and the specs of its model calls. */
async function world(model: ScriptedModel = scriptedModel(() => reply("ok")), fields: object = {}) {
  const specs: ModelSpec[] = [];
  const resolve = async (spec: ModelSpec) => {
    specs.push(spec);
    return model;
  };
  const own = { provider: null, model: null, memoryEnabled: false };
  const h = await chatHarness(undefined, { ...own, ...fields }, { models: { resolve } });
  return { ...h, providers: providersOf(h), specs, keys: () => specs.map(({ apiKey }) => apiKey) };
}

const ofAgent = async ({ services, agent: { slug } }: ChatHarness) => {
  const agent = await loadAgent(services, slug);
  if (!agent) throw new Error("The agent is gone");
  return agent;
};

test("a bound connection answers with its model, address and key, and its fallbacks are next", async () => {
  const h = await world();
  const [first, second, third] = [
    await h.providers.connect("first", { of: h.agent.slug, provider: "openai", baseUrl: "https://models.example/v1" }),
    await h.providers.connect("second"),
    await h.providers.connect("third", { provider: "anthropic" }),
  ];
  const fallbacks = [
    { connectionId: second, model: "m2" },
    { connectionId: third, model: null },
  ];
  await h.providers.bind(h.agent.slug, "chat", first, { model: "m1", fallbacks });
  expect((await h.complete("Hi")).status).toBe(200);
  const own = { provider: "openai", model: "m1", baseUrl: "https://models.example/v1", apiKey: "key-of-first" };
  expect(h.specs).toEqual([{ ...own, allowedHosts: [] }]);
  const { models } = answeringFor(h.services, await ofAgent(h), "chat");
  expect(models.map(({ spec, connection }) => [connection?.name, spec.model, spec.apiKey])).toEqual([
    ["first", "m1", "key-of-first"],
    ["second", "m2", "key-of-second"],
    ["third", "claude-sonnet-5-5", "key-of-third"],
  ]);
  const [turn] = (await h.stored()).turns;
  expect([turn?.provider, turn?.model]).toEqual(["openai", "m1"]);
});

test("the organization's default answers for an agent that binds none, and the roles have their own", async () => {
  const h = await world();
  await h.providers.connect("usual", { isDefault: true });
  const fast = await h.providers.connect("quick", { provider: "openai" });
  await h.providers.bind(h.agent.slug, "fast", fast, { model: "small" });
  expect((await h.complete("Hi")).status).toBe(200);
  const [seen] = await h.services.database.db
    .select({ slug: agents.slug, revision: agents.revision })
    .from(agents)
    .where(eq(agents.slug, h.agent.slug));
  const { complete } = ownTurns({ ...h.services, notify: localNotify(h.services.log) });
  await complete(seen ?? { slug: "", revision: 0 }, "Sum up.", asking());
  await h.providers.change(fast, { enabled: false });
  const later = { slug: h.agent.slug, revision: (seen?.revision ?? 0) + 1 };
  await expect(complete(later, "Sum up.", { ...asking(), ownModel: true })).rejects.toThrow(unusable);
  expect(h.specs.map(({ model, apiKey }) => [model, apiKey])).toEqual([
    ["mistral-medium-latest", "key-of-usual"],
    ["small", "key-of-quick"],
  ]);
});

test("memories are embedded by the bound connection, else only by one of the conversations' provider", async () => {
  const h = await world();
  h.services.options.vectors = true;
  const asked: ModelSpec[] = [];
  h.services.models.embed = async (spec) => {
    asked.push(spec);
    return { vectors: [[1, 0]], tokens: 1 };
  };
  const embedder = async () => embedderFor(h.services, await ofAgent(h));
  await h.providers.bind(h.agent.slug, "chat", await h.providers.connect("chatty", { provider: "anthropic" }));
  await h.providers.connect("usual", { isDefault: true });
  expect(await embedder()).toBeNull();
  const local = await h.providers.connect("local", { provider: "ollama", baseUrl: "http://models.internal" });
  await h.providers.bind(h.agent.slug, "embedding", local, { model: "nomic-embed-text" });
  const bound = await embedder();
  await bound?.embed(["tea"], new AbortController().signal);
  expect([bound?.model, bound?.least]).toEqual(["ollama:nomic-embed-text", 0.3]);
  expect(asked).toMatchObject([{ provider: "ollama", baseUrl: "http://models.internal", allowedHosts: [] }]);
});

test("a connection of another organization or agent answers nowhere, whatever names it", async () => {
  const h = await world();
  const other = await h.createOrganization("other");
  const foreign = await providersOf({ ...h, organization: other }).connect("foreign", { isDefault: true });
  const { slug: neighbour } = await h.anotherAgent();
  const privately = await h.providers.connect("private", { of: neighbour });
  const own = await h.providers.connect("own");
  const fallbacks = [foreign, privately].map((connectionId) => ({ connectionId, model: null }));
  await h.providers.bind(h.agent.slug, "chat", own, { fallbacks });
  const { models } = answeringFor(h.services, await ofAgent(h), "chat");
  expect(models.map(({ connection }) => connection?.name)).toEqual(["own"]);
});

describe("an agent whose bound connection is not usable", () => {
  test("fails at each door, and stores the turn alone", async () => {
    const h = await world();
    const off = await h.providers.connect("off", { enabled: false });
    await h.providers.bind(h.agent.slug, "chat", off, { model: "m" });
    for (const stream of [false, true]) {
      const answer = await h.complete("Hi", { chat_id: "c", stream });
      expect([answer.status, (await answer.json()).message]).toEqual([503, unusable]);
    }
    const events = await readEvents(await h.native("Hi", { chat_id: "c" }));
    expect(events.map(({ event }) => event)).toEqual(["error", "done"]);
    expect(events[0]?.data.message).toBe(unusable);
    const { turns: rows, messages } = await h.stored();
    expect(messages).toEqual([]);
    expect(rows.map(({ status, errorCode, provider, model }) => [status, errorCode, provider, model])).toEqual(
      Array(3).fill(["failed", "unavailable", "mistral", "m"]),
    );
    expect(h.specs).toEqual([]);
  });

  test("has its calls counted by the throttle", async () => {
    const h = await world();
    await h.providers.bind(h.agent.slug, "chat", await h.providers.connect("keyless", { apiKey: null }));
    const headers = { "X-Forwarded-For": "203.0.113.9" };
    const calls = Array.from({ length: 21 }, async () => (await h.complete("Hi", {}, { headers })).status);
    expect((await Promise.all(calls)).sort()).toEqual([429, ...Array(20).fill(503)]);
  });

  test("because nobody can open its key answers 503, and the log says why", async () => {
    const h = await world();
    const id = await h.providers.connect("lost");
    await h.services.database.db
      .update(providerConnections)
      .set({ ciphertext: new Uint8Array(40) })
      .where(eq(providerConnections.id, id));
    await h.providers.bind(h.agent.slug, "chat", id);
    expect((await h.complete("Hi")).status).toBe(503);
    expect(h.logs.join("\n")).toContain("The key of a provider connection can't be opened");
  });

  test("because of its workspace refuses the models that a person names in the playground", async () => {
    const h = await world();
    await h.providers.admit(["openai"]);
    const named = (model: string) =>
      h.request(`/api/instances/${h.agent.slug}/playground/stream`, {
        method: "POST",
        headers: h.agent.headers,
        json: { messages: [{ role: "user", content: "Hi" }], model },
      });
    const refused = await readEvents(await named("mistral:m"));
    expect(refused[0]).toMatchObject({ event: "error", data: { message: "The workspace does not admit it" } });
    expect((await readEvents(await named("openai:m"))).map(({ event }) => event)).not.toContain("error");
    expect((await h.stored()).turns).toHaveLength(1);
  });
});

/** A model whose first call waits for `open`. */
function waitingModel(then: (index: number) => ReturnType<typeof reply>) {
  const { promise, resolve: open } = Promise.withResolvers<void>();
  const model = scriptedModel((_call, index) =>
    index === 0 ? { parts: [promise, text("first"), finish()] } : then(index),
  );
  return { model, open };
}

/** Runs `change` while a turn waits behind a running one; returns the answer to the turn that waited. */
async function whileQueued(
  h: ChatHarness,
  { model, open, said = "one" }: { model: ScriptedModel; open: () => void; said?: string },
  change: () => Promise<unknown>,
) {
  const first = h.complete(said, { chat_id: "c" });
  await model.called(1);
  const second = h.complete("two", { chat_id: "c" });
  await eventually(async () => (await h.stored()).turns.some(({ status }) => status === "queued"));
  await change();
  open();
  expect((await first).status).toBe(200);
  return second;
}

describe("a turn that waits in line", () => {
  test("is answered by the connection that is bound when it runs, and its key stays hidden", async () => {
    const { model, open } = waitingModel(() => reply("My key is key-of-second."));
    const h = await world(model);
    await h.providers.bind(h.agent.slug, "chat", await h.providers.connect("first"));
    const answer = await whileQueued(h, { model, open }, async () => {
      await h.providers.bind(h.agent.slug, "chat", await h.providers.connect("second"));
    });
    expect((await answer.json()).choices[0].message.content).toBe("My key is [secret].");
    expect(h.keys()).toEqual(["key-of-first", "key-of-second"]);
  });

  test("has its provider's errors logged without the key that it got meanwhile", async () => {
    const { model, open } = waitingModel(() => ({ fail: new Error("Refused: key-of-second") }) as never);
    const h = await world(model);
    await h.providers.bind(h.agent.slug, "chat", await h.providers.connect("first"));
    const answer = await whileQueued(h, { model, open }, async () => {
      await h.providers.bind(h.agent.slug, "chat", await h.providers.connect("second"));
    });
    expect(answer.status).toBe(502);
    expect(h.logs.join("\n")).toContain("Refused: [secret]");
    expect(h.logs.join("\n")).not.toContain("key-of-second");
  });

  test("gets as much of the conversation as the model can read that answers it", async () => {
    const { model, open } = waitingModel(() => reply("second"));
    const h = await world(model);
    await h.providers.bind(h.agent.slug, "chat", await h.providers.connect("large"));
    const long = "word ".repeat(50_000);
    const answer = await whileQueued(h, { model, open, said: long }, async () => {
      const small = await h.providers.connect("small", { provider: "ollama", baseUrl: "https://models.example" });
      await h.providers.bind(h.agent.slug, "chat", small);
    });
    expect(answer.status).toBe(200);
    expect(JSON.stringify(model.calls[0]?.prompt)).toContain(long);
    expect(JSON.stringify(model.calls[1]?.prompt)).not.toContain(long);
  });

  test("fails when its connection is not admitted any more", async () => {
    const { model, open } = waitingModel(() => reply("second"));
    const h = await world(model);
    await h.providers.bind(h.agent.slug, "chat", await h.providers.connect("first"));
    const answer = await whileQueued(h, { model, open }, () => h.providers.admit(["openai"]));
    expect([answer.status, (await answer.json()).message]).toEqual([503, unusable]);
    expect(h.keys()).toEqual(["key-of-first"]);
  });
});

describe("a turn that goes on after a decision", () => {
  /** Decides about the agent's one call after `change`, on a replica that hears of nothing. */
  async function decided(change: (h: Awaited<ReturnType<typeof world>>, bound: string) => Promise<unknown>) {
    const paying = { parts: [...toolCall("c", "currentTime", {}), finish("tool-calls")] };
    const h = await world(scriptedModel(({ prompt }) => (prompt.at(-1)?.role === "tool" ? reply("Over.") : paying)));
    const { slug, headers, key } = h.agent;
    const json = { enabled: ["currentTime"], needsApproval: ["currentTime"] };
    expect((await h.request(`/api/instances/${slug}/tools`, { method: "PATCH", headers, json })).ok).toBe(true);
    const bound = await h.providers.connect("first");
    await h.providers.bind(slug, "chat", bound);
    const deaf = createEngine({ ...h.services, notify: localNotify(h.services.log) });
    const post = (path: string, authorization: string, body: object) =>
      deaf.app.request(path, {
        method: "POST",
        headers: { Authorization: authorization, "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
    const messages = [{ role: "user", content: "Pay" }];
    const asked = post(`/api/instances/${slug}/chat/stream`, `Bearer ${key}`, { messages, chat_id: "c" });
    const call = (await readEvents(await asked)).find(({ event }) => event === "tool-call")?.data.id;
    await change(h, bound);
    const path = `/api/conversations/${encodeURIComponent(`${slug}:web:api-c`)}/approvals/${call}`;
    expect((await post(path, headers.Authorization ?? "", { approved: true })).status).toBe(201);
    const continued = await eventually(async () =>
      (await h.stored()).turns.find(({ continues, finishedAt }) => continues !== null && finishedAt !== null),
    );
    return { ...h, continued, deaf };
  }

  test("asks the connection that is bound now", async () => {
    const h = await decided(async ({ providers, agent }) =>
      providers.bind(agent.slug, "chat", await providers.connect("second")),
    );
    expect(h.continued.status).toBe("done");
    expect(h.keys()).toEqual(["key-of-first", "key-of-second"]);
  });

  test("fails once when that may not answer", async () => {
    const h = await decided(({ providers }, bound) => providers.change(bound, { enabled: false }));
    expect([h.continued.status, h.continued.errorCode]).toEqual(["failed", "unavailable"]);
    await h.clock.advance(120_000);
    expect((await h.stored()).turns).toHaveLength(2);
    expect(h.keys()).toEqual(["key-of-first"]);
  });
});

test("a key of a connection is in no reply, no row and no log, also after the connection is gone", async () => {
  const canary = `canary-${newId()}`;
  const h = await world(
    scriptedModel(() => reply(`It is ${canary}, or ${btoa(canary)}.`)),
    { debugEnabled: true },
  );
  const id = await h.providers.connect("secretive", { apiKey: canary });
  await h.providers.bind(h.agent.slug, "chat", id);
  const said = [await (await h.complete("Hi", { chat_id: "c" })).text()];
  await h.providers.remove(id);
  said.push(await (await h.complete("Hi", { chat_id: "c" })).text());
  expect(h.keys()).toEqual([canary, undefined]);
  const stored = await h.stored();
  const everything = [...said, ...h.logs, JSON.stringify(stored)].join("\n");
  expect(everything).not.toContain(canary);
  expect(everything).not.toContain(btoa(canary));
  const rows = await h.services.database.db.select().from(turns).orderBy(turns.createdAt, turns.id);
  expect(rows.map(({ status }) => status)).toEqual(["done", "done"]);
});
