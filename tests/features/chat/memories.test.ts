import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import type { ModelSpec } from "../../../src/core/ports.ts";
import { conversations, jobs, memories } from "../../../src/db/schema.ts";
import { finish, gate, reply, type ScriptedModel, scriptedModel, toolCall } from "../../scripted-model.ts";
import { chatHarness, eventually } from "./chat.ts";
import { providersOf } from "./connections.ts";

const described = { title: "Tea", summary: "The user likes tea." };
const description = JSON.stringify(described);
const facts = JSON.stringify({
  ...described,
  facts: [{ content: "Prefers green tea.", category: "taste", importance: 7 }],
});

const fastModel = "gpt-5-nano";

/** An agent of a real provider, with one model for chat and by default another one for the background. */
async function remembering(fields: Record<string, unknown> = {}, learned = facts, answer = () => reply("Hello.")) {
  const asked: ModelSpec[] = [];
  /** The fast model answers only after this, so that a test sees the work that waits for it. */
  const holding: { until?: Promise<void> } = {};
  const fast = scriptedModel(({ prompt }) => {
    const said = reply(JSON.stringify(prompt).includes("long-term memory") ? learned : description);
    return holding.until ? { ...said, opens: holding.until } : said;
  });
  const main = scriptedModel(answer);
  const resolve = async (spec: ModelSpec): Promise<ScriptedModel> => {
    asked.push(spec);
    return spec.model === "main" ? main : fast;
  };
  const h = await chatHarness(
    undefined,
    { provider: "openai", model: "main", fastModel, ...fields },
    { models: { resolve } },
  );
  const { db } = h.services.database;
  const waiting = () => db.select().from(jobs);
  const rows = () => db.select().from(conversations);
  /** Conversations whose title is due, and those whose follow-up is. */
  const due = async () => {
    const found = await rows();
    return [found.filter((row) => row.titleDueAt).length, found.filter((row) => row.followUpDueAt).length];
  };
  /** Moves the clock to when conversations have rested, and waits until the work is done. */
  const rest = async () => {
    await h.clock.jump(30_000);
    // A conversation whose title is due has no other follow-up until it is written.
    await eventually(async () => (await due())[0] === 0);
    await h.engine.tick();
    await eventually(async () => isDeepStrictEqual([await waiting(), await due()], [[], [0, 0]]));
  };
  const patch = async (json: object) => {
    const response = await h.request(`/api/instances/${h.agent.slug}`, {
      method: "PATCH",
      headers: h.agent.headers,
      json,
    });
    expect(response.status).toBe(200);
  };
  const learning = () => fast.calls.filter(({ prompt }) => JSON.stringify(prompt).includes("long-term memory"));
  return {
    ...h,
    asked,
    fast,
    holding,
    main,
    patch,
    learning,
    conversations: rows,
    stored: () => db.select().from(memories),
    waiting,
    due,
    rest,
  };
}

test("an agent without a fastModel is described and learned from by the connection that it binds to fast", async () => {
  const h = await remembering({ fastModel: null });
  const { connect, bind } = providersOf(h);
  await bind(h.agent.slug, "fast", await connect("quick", { provider: "openai" }), { model: fastModel });
  await (await h.native("I like green tea.", { chat_id: "a", user: "ada" })).text();
  await h.rest();
  expect((await h.conversations()).map(({ title }) => title)).toEqual(["Tea"]);
  expect((await h.stored()).map(({ content }) => content)).toEqual(["Prefers green tea."]);
  expect(h.asked.map(({ model, apiKey }) => [model, apiKey])).toContainEqual([fastModel, "key-of-quick"]);
});

test("the work a turn leaves for later alternates with that of other organizations", async () => {
  const h = await remembering();
  h.services.options.vectors = true;
  await (await h.native("I like green tea.", { chat_id: "a", user: "ada" })).text();
  const { slug, headers } = h.agent;
  await h.request("/memories", { method: "POST", headers, json: { instanceId: slug, content: "Likes tea" } });
  const [conversation] = await h.conversations();
  const left = (await h.waiting()).map(({ kind, organizationId }) => [kind, organizationId]);
  const organizationId = conversation?.organizationId;
  expect(left.toSorted()).toEqual([
    ["embedMemories", organizationId],
    ["titleConversations", organizationId],
  ]);
  await h.rest();
  await (await h.native("And cake.", { chat_id: "a", user: "ada" })).text();
  const { promise, open } = gate();
  h.holding.until = promise;
  await h.clock.jump(30_000);
  await h.engine.tick();
  const found = (await h.waiting()).filter(({ kind }) => kind === "followUpConversations");
  expect(found.map((job) => job.organizationId)).toEqual([organizationId]);
  open();
  await h.rest();
});

const system = ({ calls }: ScriptedModel) => JSON.stringify(calls.at(-1)?.prompt[0]);

test("facts about the user are learned from turns by the fast model, with the title and once they rest, and known in the next conversation", async () => {
  const h = await remembering();
  await (await h.native("I like green tea.", { chat_id: "a", user: "ada" })).text();
  expect(system(h.main)).not.toContain("What you remember");
  await h.rest();
  for (const content of ["And cake.", "And jam."]) {
    await (await h.native(content, { chat_id: "a", user: "ada" })).text();
    await h.clock.advance(20_000);
    await h.engine.tick();
  }
  expect([h.learning().length, await h.due()]).toEqual([1, [0, 1]]);
  await h.rest();
  expect(await h.stored()).toMatchObject([{ content: "Prefers green tea.", subject: "web:ada", importance: 7 }]);
  expect(h.learning().map(({ prompt }) => JSON.stringify(prompt))).toEqual([
    expect.stringMatching(/I like green tea\./),
    expect.stringMatching(/And cake\..*And jam\./),
  ]);
  expect(new Set(h.asked.map(({ model }) => model))).toEqual(new Set(["main", fastModel]));

  await (await h.native("What should I drink?", { chat_id: "b", user: "ada" })).text();
  expect(system(h.main)).toContain("- Prefers green tea. (");
  await (await h.native("What should I drink?", { chat_id: "c", user: "eve" })).text();
  expect(system(h.main)).not.toContain("green tea");
  await h.rest();
});

test("the agent's own fast model is asked, with the keys of its provider", async () => {
  const h = await remembering({ fastModel: "mistral:mistral-small-latest" });
  await (await h.native("Hi", { chat_id: "a", user: "ada" })).text();
  await h.rest();
  expect((await h.stored()).length).toBe(1);
  expect(h.asked.at(-1)).toMatchObject({ provider: "mistral", model: "mistral-small-latest", apiKey: undefined });
});

test("no work is left where memory is off, where nothing is stored, and by the demo model", async () => {
  const off = await remembering({ memoryEnabled: false });
  off.services.options.vectors = true;
  await (await off.native("I like green tea.", { chat_id: "a", user: "ada" })).text();
  const json = { instanceId: off.agent.slug, content: "Likes tea" };
  expect((await off.request("/memories", { method: "POST", headers: off.agent.headers, json })).status).toBe(201);
  for (const content of ["And cake.", "And jam."])
    await (await off.native(content, { chat_id: "a", user: "ada" })).text();
  const titles = (await off.conversations()).map(({ title, summary }) => [title, summary]);
  expect([await off.waiting(), await off.due(), titles]).toEqual([[], [0, 0], [["I like green tea.", null]]]);
  await off.rest();
  expect([off.fast.calls, (await off.stored()).length]).toEqual([[], 1]);
  const passing = await remembering();
  await (await passing.native("I like green tea.", { user: "ada" })).text();
  expect([await passing.waiting(), await passing.due()]).toEqual([[], [0, 0]]);
  const demo = await remembering({ provider: "demo", model: "main" });
  await (await demo.native("I like green tea.", { chat_id: "a", user: "ada" })).text();
  expect([await demo.waiting(), await demo.due(), (await demo.conversations())[0]?.title]).toEqual([
    [],
    [0, 0],
    "I like green tea.",
  ]);
});

test("without a fast model of its own an agent asks no model in the background and leaves no work", async () => {
  const h = await remembering({ fastModel: null });
  await (await h.native("I like\ngreen tea.", { chat_id: "a", user: "ada" })).text();
  const left = async () => [
    ...(await h.waiting()),
    ...(await h.due()),
    (await h.conversations()).map(({ title, summary }) => [title, summary]),
  ];
  expect(await left()).toEqual([0, 0, [["I like green tea.", null]]]);
  for (const content of ["And cake.", "And jam."])
    await (await h.native(content, { chat_id: "a", user: "ada" })).text();
  await h.rest();
  expect(await left()).toEqual([0, 0, [["I like green tea.", null]]]);
  expect([new Set(h.asked.map(({ model }) => model)), await h.stored()]).toEqual([new Set(["main"]), []]);
});

test("memory that is switched off while work waits keeps the model from being asked at all", async () => {
  const h = await remembering();
  await (await h.native("I like green tea.", { chat_id: "a", user: "ada" })).text();
  expect(await h.due()).toEqual([1, 0]);
  await h.patch({ memoryEnabled: false });
  await h.rest();
  expect([h.fast.calls, await h.stored()]).toEqual([[], []]);
  expect((await h.conversations())[0]?.title).toBe("I like green tea.");
});

test("a fast model that is taken away while work waits is not asked, nor is another one", async () => {
  const h = await remembering();
  await (await h.native("I like green tea.", { chat_id: "a", user: "ada" })).text();
  expect(await h.due()).toEqual([1, 0]);
  await h.patch({ fastModel: null });
  await h.rest();
  expect([new Set(h.asked.map(({ model }) => model)), await h.stored()]).toEqual([new Set(["main"]), []]);
  expect((await h.conversations()).map(({ title }) => title)).toEqual(["I like green tea."]);
});

test("a fast model that is exchanged while work waits is the one that is asked", async () => {
  const h = await remembering();
  await (await h.native("I like green tea.", { chat_id: "a", user: "ada" })).text();
  await h.patch({ fastModel: "newer" });
  await h.rest();
  expect(new Set(h.asked.map(({ model }) => model))).toEqual(new Set(["main", "newer"]));
  expect((await h.stored()).length).toBe(1);
});

test.each<[string, object, object]>([
  ["it had no fast model", { fastModel: null }, { fastModel }],
  ["its memory was off", { memoryEnabled: false }, { memoryEnabled: true }],
])("an agent learns from what is said from now on, not from what was said while %s", async (_label, before, after) => {
  const h = await remembering({ ...before });
  await (await h.native("I like green tea.", { chat_id: "a", user: "ada" })).text();
  await h.patch(after);
  await (await h.native("And cake.", { chat_id: "a", user: "ada" })).text();
  await h.rest();
  const [call] = h.learning();
  const said = JSON.stringify(call?.prompt).replaceAll("\\", "");
  expect(said).toContain('{"role":"user","earlier":true,"text":"I like green tea."}');
  expect(said).toContain('{"role":"user","text":"And cake."}');
});

test("an answer of the fast model that is no list of facts is dropped, and the turn has long been answered", async () => {
  const h = await remembering({}, "I could not find any.");
  expect(await (await h.native("Hi", { chat_id: "a", user: "ada" })).text()).toContain("event: done");
  await h.rest();
  expect(await h.stored()).toEqual([]);
  expect(h.logs.join()).toContain("The fast model gave no list of facts");
});

test("a conversation has a title moments after its first turn, and a summary once more was said", async () => {
  const h = await remembering();
  const described = async () => (await h.conversations()).map(({ title, summary }) => [title, summary]);
  await (await h.native("I like green tea.", { chat_id: "a", user: "ada" })).text();
  await h.clock.advance(2_000);
  await eventually(async () => {
    // The worker may begin a job a little after its due time.
    await h.clock.advance(1);
    return (await described())[0]?.[0] !== null;
  });
  expect(await described()).toEqual([["Tea", null]]);
  for (const content of ["And cake.", "And jam."])
    await (await h.native(content, { chat_id: "a", user: "ada" })).text();
  await h.rest();
  expect(await described()).toEqual([["Tea", "The user likes tea."]]);
});

test("a conversation whose first turn has many messages gets its summary with the title", async () => {
  const h = await remembering();
  const messages = ["Hi.", "I like", "green", "tea.", "And cake."].map((content) => ({ role: "user", content }));
  await (await h.native("", { messages, chat_id: "a", user: "ada" })).text();
  await h.rest();
  const described = (await h.conversations()).map(({ title, summary }) => [title, summary]);
  expect([described, (await h.stored()).length]).toEqual([[["Tea", "The user likes tea."]], 1]);
});

test("a conversation whose first turn failed has a title moments after the first that did not", async () => {
  let away = true;
  const h = await remembering({}, facts, () => {
    if (away) throw new Error("The provider is away");
    return reply("Hello.");
  });
  const say = async () => (await h.native("I like green tea.", { chat_id: "a", user: "ada" })).text();
  expect(await say()).toContain("event: error");
  expect(await h.due()).toEqual([0, 0]);
  away = false;
  expect(await say()).toContain("event: done");
  expect(await h.due()).toEqual([1, 0]);
  await say();
  expect(await h.due()).toEqual([1, 1]);
  await h.rest();
});

/** Gives the agent the skill `weather` with a sensitive value. */
async function giveSkill({ request, agent, organization }: Awaited<ReturnType<typeof remembering>>, value: string) {
  const send = async (method: string, path: string, json: object = {}) =>
    expect((await request(path, { method, headers: agent.headers, json })).status).toBeLessThan(300);
  const organizationPath = `/api/organizations/${organization.slug}`;
  const requiredEnv = [{ name: "TOKEN", sensitive: true, hosts: ["api.example.com"] }];
  const skill = { name: "Weather", description: "Tells the weather.", content: "Use the token.", requiredEnv };
  await send("POST", `${organizationPath}/skills`, skill);
  await send("PUT", `${organizationPath}/workspaces/${organization.workspaceId}/skills/weather`);
  await send("PATCH", `/api/instances/${agent.slug}/skills`, { enabled: ["weather"] });
  const env = [{ key: "TOKEN", value, sensitive: true }];
  await send("PUT", `/api/instances/${agent.slug}/skills/weather/env`, { env });
}

test("placeholders stay as they were said, and a skill's secret value is in nothing that is left behind", async () => {
  const [placeholder, value] = ["{{skill_env.weather.TOKEN}} {{datetime}}", "canary-4711-geheim"];
  const h = await remembering({}, JSON.stringify([{ content: `Says ${placeholder}` }, { content: `Sees ${value}` }]));
  await giveSkill(h, value);
  await (await h.native(placeholder, { chat_id: "a", user: "ada" })).text();
  await h.rest();
  expect(JSON.stringify(h.fast.calls.map(({ prompt }) => prompt))).toContain(placeholder);
  expect(JSON.stringify(h.fast.calls.map(({ prompt }) => prompt))).not.toContain(value);
  const stored = await h.stored();
  expect(stored.map(({ content }) => content)).toEqual(expect.arrayContaining([`Says ${placeholder}`]));
  expect([stored.length, JSON.stringify(stored).includes(value)]).toEqual([2, false]);
  await (await h.native("Hi", { chat_id: "b", user: "ada" })).text();
  expect(system(h.main)).toContain(`- Says ${placeholder} (`);
  await h.rest();
});

test("a memory saved by the model's tool is known in the next conversation", async () => {
  const model = scriptedModel((_, index) =>
    index === 0
      ? { parts: [...toolCall("c", "saveMemory", { content: "Lives in Bern." }), finish("tool-calls")] }
      : reply("Noted."),
  );
  const h = await chatHarness(model);
  const json = { enabled: ["saveMemory", "searchMemory"] };
  const path = `/api/instances/${h.agent.slug}/tools`;
  expect((await h.request(path, { method: "PATCH", headers: h.agent.headers, json })).status).toBe(200);
  await (await h.native("I live in Bern.", { chat_id: "a", user: "ada" })).text();
  await (await h.native("Where do I live?", { chat_id: "b", user: "ada" })).text();
  expect(system(model)).toContain("- Lives in Bern. (");
});
