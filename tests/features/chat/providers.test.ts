import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { agents } from "../../../src/db/schema.ts";
import { loadAgent } from "../../../src/features/turns/agent/load.ts";
import { answeringFor } from "../../../src/features/turns/agent/model.ts";
import type { RemoteProvider } from "../../adapters/recorded.ts";
import { cutAnswer, wires } from "../../adapters/wires.ts";
import { drop, type Reply, startFakeProvider } from "../../fake-provider.ts";
import { chatHarness, dataLines, eventually } from "./chat.ts";

const names = ["openai", "anthropic", "google", "mistral", "ollama", "openai-compatible"] as const;

/** The wire format of a provider; OpenAI at another address uses chat completions. */
const spoken = (name: (typeof names)[number]): RemoteProvider => (name === "openai" ? "openai-compatible" : name);

const stem = (name: string) => name.replaceAll("-", "_");

/** An agent of a provider whose key and address come from the environment. */
async function start(name: (typeof names)[number], reply: Reply) {
  const provider = await startFakeProvider(reply);
  const environmentKeys = {
    [`${stem(name)}_base_url`]: provider.url,
    [`${stem(name)}_api_key`]: "sk-environment-0123456789",
  };
  const h = await chatHarness(undefined, { provider: name, model: "m" }, { environmentKeys });
  return { h, provider };
}

type Started = Awaited<ReturnType<typeof start>>["h"];

async function saveSecrets(h: Started, values: Record<string, string>) {
  const secrets = Object.entries(values).map(([key, value]) => ({ key, value }));
  const path = `/api/instances/${h.agent.slug}/secrets`;
  expect((await h.request(path, { method: "PUT", headers: h.agent.headers, json: { secrets } })).status).toBe(200);
}

async function allowHosts(h: Started, ...httpAllowedHosts: string[]) {
  const headers = { ...(await h.as("owner")), "X-Organization": "acme" };
  const answer = await h.request("/api/installation/policies", {
    method: "PATCH",
    headers,
    json: { httpAllowedHosts },
  });
  expect(answer.status).toBe(200);
}

test.each(
  names,
)("%s: a failure is one clear error to the caller, streamed or not; its words are in the log", async (name) => {
  const words = "You did not provide the key sk-environment-0123456789 for org-7";
  const refused = { status: 401, body: JSON.stringify(wires[spoken(name)].refusal(401, words)) };
  const { h, provider } = await start(name, refused);
  const failures = () => h.logs.splice(0).filter((line) => line.includes("A turn failed"));

  for (const stream of [false, true]) {
    const response = await h.complete("Hi", { stream });
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ statusCode: 502, message: "Model provider error" });
  }
  const native = await (await h.native("Hi")).text();
  expect(native).toContain("Model provider error");
  expect(native).not.toContain("org-7");
  const logged = failures();
  expect(logged).toHaveLength(3);
  for (const line of logged) expect(line).toContain("for org-7");
  expect(logged.join()).not.toContain("sk-environment");

  // A stream that breaks after its first words is a failure, not a reply.
  const { half } = await cutAnswer(spoken(name));
  for (const tail of [[], [drop] as const, [wires[spoken(name)].overloaded]]) {
    provider.answer({ stream: [half, ...tail] });
    const streamed = dataLines(await (await h.complete("Hi", { stream: true })).text());
    expect(streamed.join()).toContain("In Zürich it is");
    expect(streamed.join()).not.toContain('"finish_reason":"stop"');
    expect(JSON.parse(streamed.at(-2) ?? "")).toMatchObject({ error: { message: "Model provider error" } });
    const whole = await h.complete("Hi");
    expect(whole.status).toBe(502);
    expect(await whole.text()).not.toContain("overloaded now");
    expect(failures()).toHaveLength(2);
  }
});

test.each(
  names,
)("%s: the playground tells the cause of a failure in our words, and public doors tell none", async (name) => {
  const key = "sk-environment-0123456789";
  const said = (status: number, words: string, headers = {}) => ({
    status,
    headers,
    body: JSON.stringify(wires[spoken(name)].refusal(status, words)),
  });
  const { h, provider } = await start(name, { status: 401 });
  const owner = await h.as("owner");
  const play = async () => {
    const path = `/api/instances/${h.agent.slug}/playground/stream`;
    const json = { messages: [{ role: "user", content: "Hi" }] };
    const text = await (await h.request(path, { method: "POST", headers: owner, json })).text();
    expect(text).not.toMatch(/org-7|sk-/);
    return text;
  };
  const cases: [Reply, string][] = [
    [said(401, `Wrong key ${key} of org-7`), "The provider refused the key (status 401)"],
    [said(400, `API key not valid: ${key}`), "The provider refused the key (status 400)"],
    [said(404, "The model `m` of org-7 does not exist"), "The provider knows no such model (status 404)"],
    [said(400, "Invalid model: m of org-7"), "The provider knows no such model (status 400)"],
    [said(400, "Something of org-7"), "The provider refused the request (status 400)"],
    [
      said(400, "The model m of org-7 does not support tools"),
      "The model, or its server as it is set up, calls no tools",
    ],
    [said(400, "org-7: maximum context length is 8192"), "The prompt is longer than the model can read"],
    [said(402, "Pay, org-7"), "The account at the provider has no money or quota left (status 402)"],
    [{ status: 302, headers: { Location: "http://127.0.0.1:1/org-7" } }, "The address redirects"],
    [{ status: 200, headers: { "Content-Type": "text/html" }, body: "org-7" }, "The address does not answer as"],
  ];
  for (const [reply, words] of cases) {
    provider.answer(reply);
    expect(await play()).toContain(`"message":"Model provider error (${name}:m): ${words}`);
    const native = await (await h.native("Hi")).text();
    expect(native).toContain('"message":"Model provider error"');
    const refused = await h.complete("Hi");
    expect([refused.status, (await refused.json()).message]).toEqual([502, "Model provider error"]);
  }
  provider.answer(said(429, "Slow down, org-7", { "Retry-After": "42" }));
  expect(await play()).toContain("The provider is asked too often (status 429)");
  for (const stream of [false, true]) {
    const throttled = await h.complete("Hi", { stream });
    expect([throttled.status, throttled.headers.get("Retry-After")]).toEqual([429, "42"]);
    expect([...throttled.headers.keys()].filter((header) => header.startsWith("x-ratelimit"))).toEqual([]);
  }
});

test("the playground names a key or an address that is missing, wrong or out of reach", async () => {
  const h = await chatHarness(undefined, { provider: "openai", model: "m" });
  const owner = await h.as("owner");
  const play = async () => {
    const path = `/api/instances/${h.agent.slug}/playground/stream`;
    const json = { messages: [{ role: "user", content: "Hi" }] };
    return (await h.request(path, { method: "POST", headers: owner, json })).text();
  };
  expect(await play()).toContain("(openai:m): The provider openai has no key: set the secret openai_api_key");
  await saveSecrets(h, { openai_base_url: "http://localhost:1/v1", openai_api_key: "sk-agent-0123456789" });
  expect(await play()).toContain("(openai:m): The address is not public");
  await allowHosts(h, "127.0.0.1:1");
  await saveSecrets(h, { openai_base_url: "http://127.0.0.1:1/v1", openai_api_key: "sk-agent-0123456789" });
  const playing = play();
  await eventually(async () => {
    await h.clock.advance(1_000);
    return (await Promise.race([playing, undefined])) !== undefined;
  });
  expect(await playing).toContain("(openai:m): The host refused the connection");
});

test("an agent's own key and address come before the environment's, and the environment's key never goes to an agent's address", async () => {
  const refused: Reply = { status: 400, body: "{}" };
  const { h, provider } = await start("anthropic", refused);
  const own = await startFakeProvider(refused);
  const save = (key: string, value: string) =>
    h.request(`/api/instances/${h.agent.slug}/secrets`, {
      method: "PUT",
      headers: h.agent.headers,
      json: { secrets: [{ key, value }] },
    });
  const sent = () => [...provider.exchanges, ...own.exchanges].map(({ headers }) => headers["x-api-key"]);

  await h.complete("Hi");
  expect(sent()).toEqual(["sk-environment-0123456789"]);
  await allowHosts(h, "127.0.0.1");
  expect((await save("anthropic_base_url", own.url)).status).toBe(200);
  expect((await h.complete("Hi")).status).toBe(502);
  expect(own.exchanges).toHaveLength(0);
  expect(h.logs.join()).toContain("anthropic_api_key");
  await save("anthropic_api_key", "sk-agent-0123456789");
  await h.complete("Hi");
  expect(sent()).toEqual(["sk-environment-0123456789", "sk-agent-0123456789"]);
});

const inside = [
  "http://127.0.0.1",
  "http://localhost",
  "http://[::1]",
  "http://169.254.169.254/latest",
  "http://10.0.0.1",
];

test.each(
  names,
)("%s: an address of the agent's own that is not public is never dialled, however it is spelled", async (name) => {
  const { h } = await start(name, { status: 400, body: "{}" });
  const own = await startFakeProvider({ status: 400, body: "{}" });
  const { port } = new URL(own.url);
  for (const address of [...inside.map((host) => `${host}:${port}`), "http://2130706433/", "http://0x7f.1:1"]) {
    await saveSecrets(h, { [`${stem(name)}_base_url`]: address, [`${stem(name)}_api_key`]: "sk-agent-0123456789" });
    const refused = await h.complete("Hi");
    expect([address, refused.status]).toEqual([address, 502]);
    expect(await refused.json()).toMatchObject({ message: "Model provider error" });
  }
  expect(own.exchanges).toHaveLength(0);
  expect(h.logs.join()).toContain("The address is not public");
  await allowHosts(h, `127.0.0.1:${port}`);
  await saveSecrets(h, { [`${stem(name)}_base_url`]: own.url, [`${stem(name)}_api_key`]: "sk-agent-0123456789" });
  await h.complete("Hi");
  expect(own.exchanges).toHaveLength(1);
  await allowHosts(h);
  await h.complete("Hi");
  expect(own.exchanges).toHaveLength(1);
});

test("the guard of an agent's own address is that of its fast model too; the environment's addresses have none", async () => {
  const { h } = await start("google", { status: 400, body: "{}" });
  const patch = { fastModel: "openai-compatible:m" };
  const path = `/api/instances/${h.agent.slug}`;
  expect((await h.request(path, { method: "PATCH", headers: h.agent.headers, json: patch })).status).toBe(200);
  await saveSecrets(h, { openai_compatible_base_url: "http://127.0.0.1:1/v1" });
  await allowHosts(h, "models.internal");
  const agent = await loadAgent(h.services, h.agent.slug);
  if (!agent) throw new Error("The agent is gone");
  const hostsFor = (role: "fast" | "chat") => answeringFor(h.services, agent, role).models[0]?.spec.allowedHosts;
  expect(hostsFor("fast")).toEqual(["models.internal"]);
  expect(hostsFor("chat")).toBeUndefined();
});

test("ollama is looked for nowhere unless the agent or the environment names its address", async () => {
  const h = await chatHarness(undefined, { provider: "ollama", model: "m" });
  expect((await h.complete("Hi")).status).toBe(502);
  expect(h.logs.join()).toContain("The provider ollama has no address: set the secret ollama_base_url");
});

test("a name that was stored before names had rules leads no call to another path", async () => {
  const { h, provider } = await start("google", { status: 400, body: "{}" });
  const model = "../../../key/generate?admin=1#";
  await h.services.database.db.update(agents).set({ model, revision: 99 });
  expect((await h.complete("Hi")).status).toBe(502);
  expect(provider.exchanges).toHaveLength(0);
  expect(h.logs.join()).toContain("The model of the provider google must have a name");
});

test("an agent without a model gets that of the first provider with a key", async () => {
  const provider = await startFakeProvider({ status: 400, body: "{}" });
  const environmentKeys = { mistral_api_key: "sk-m", mistral_base_url: provider.url, ollama_base_url: "http://x" };
  const h = await chatHarness(undefined, { provider: null, model: null }, { environmentKeys });
  expect((await h.complete("Hi")).status).toBe(502);
  expect(provider.exchanges.map(({ body }) => body.model)).toEqual(["mistral-medium-latest"]);
});

test("the part of a prompt that Anthropic caches stays the same in all turns of a conversation", async () => {
  const [calling, answering] = await Promise.all(
    ["reasoning-tool", "answer"].map(async (name): Promise<Reply> => {
      return { stream: [await readFile(`tests/fixtures/providers/anthropic/${name}.sse`, "utf8")] };
    }),
  );
  if (!calling || !answering) throw new Error("A fixture is missing");
  const { h, provider } = await start("anthropic", calling);
  const path = `/api/instances/${h.agent.slug}`;
  const enabled = { enabled: ["currentTime", "setState"] };
  expect((await h.request(`${path}/tools`, { method: "PATCH", headers: h.agent.headers, json: enabled })).status).toBe(
    200,
  );
  provider.answer(calling, answering);
  for (const [turn, user] of ["ada", "bob", "cy"].entries()) {
    expect((await h.complete(`Question ${turn}`, { chat_id: "c1", user })).status).toBe(200);
    h.clock.advance(61 * 60_000);
    const state = { state: { turn } };
    const ref = `${h.agent.slug}:web:api-c1`;
    await h.request(`/api/conversations/${ref}/state`, { method: "PUT", headers: h.agent.headers, json: state });
  }
  const prompts = provider.exchanges.map(({ body }) => body as { system: { text: string }[]; tools: unknown });
  expect(prompts).toHaveLength(4);
  const stable = prompts.map(({ system, tools }) => JSON.stringify([system[0], tools]));
  expect(new Set(stable).size).toBe(1);
  expect(stable[0]).toContain('"cache_control":{"type":"ephemeral"}');
  expect(stable[0]).toContain("currentTime");
  // The rest has the time, the person and the state, so it differs between turns, and not within the first one.
  expect(new Set(prompts.map(({ system }) => system[1]?.text)).size).toBe(3);

  await h.request(path, { method: "PATCH", headers: h.agent.headers, json: { description: "Another one" } });
  await h.complete("Again", { chat_id: "c1" });
  const last = provider.exchanges.at(-1)?.body as (typeof prompts)[number];
  expect(last.system[0]).not.toEqual(prompts[0]?.system[0]);
});
