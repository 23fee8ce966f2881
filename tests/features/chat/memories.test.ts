import { expect, test } from "vitest";
import type { ModelSpec } from "../../../src/core/ports.ts";
import { jobs, memories } from "../../../src/db/schema.ts";
import { finish, reply, type ScriptedModel, scriptedModel, toolCall } from "../../scripted-model.ts";
import { chatHarness, eventually } from "./chat.ts";

const facts = JSON.stringify([{ content: "Prefers green tea.", category: "taste", importance: 7 }]);

/** An agent of a real provider: one model talks, another one remembers. */
async function remembering(fields: Record<string, unknown> = {}, learned = facts) {
  const asked: ModelSpec[] = [];
  const fast = scriptedModel(() => reply(learned));
  const main = scriptedModel(() => reply("Hello."));
  const resolve = async (spec: ModelSpec): Promise<ScriptedModel> => {
    asked.push(spec);
    return spec.model === "main" ? main : fast;
  };
  const h = await chatHarness(undefined, { provider: "openai", model: "main", ...fields }, { models: { resolve } });
  const { db } = h.services.database;
  return { ...h, asked, fast, main, stored: () => db.select().from(memories), waiting: () => db.select().from(jobs) };
}

const system = ({ calls }: ScriptedModel) => JSON.stringify(calls.at(-1)?.prompt[0]);

test("what a turn tells of the user is learned by the fast model, and known in the next one", async () => {
  const h = await remembering();
  await (await h.native("I like green tea.", { chat_id: "a", user: "ada" })).text();
  const [learned] = await eventually(async () => {
    const rows = await h.stored();
    return rows.length > 0 && rows;
  });
  expect(learned).toMatchObject({ content: "Prefers green tea.", subject: "ada", importance: 7 });
  expect(h.asked.map(({ model }) => model)).toEqual(["main", "gpt-5-nano"]);
  expect(system(h.main)).not.toContain("What you remember");

  await (await h.native("What should I drink?", { chat_id: "b", user: "ada" })).text();
  expect(system(h.main)).toContain("- Prefers green tea. (");
  await (await h.native("What should I drink?", { chat_id: "c", user: "eve" })).text();
  expect(system(h.main)).not.toContain("green tea");
  await eventually(async () => (await h.waiting()).length === 0);
});

test("the agent's own fast model is asked, with the keys of its provider", async () => {
  const h = await remembering({ fastModel: "mistral:mistral-small-latest" });
  await (await h.native("Hi", { chat_id: "a", user: "ada" })).text();
  await eventually(async () => (await h.stored()).length > 0);
  expect(h.asked.at(-1)).toMatchObject({ provider: "mistral", model: "mistral-small-latest", apiKey: undefined });
});

test("nothing is learned where memory is off, where nothing is stored, and from the model that repeats", async () => {
  const off = await remembering({ memoryEnabled: false });
  await (await off.native("I like green tea.", { chat_id: "a", user: "ada" })).text();
  expect(await off.waiting()).toEqual([]);
  const passing = await remembering();
  await (await passing.native("I like green tea.", { user: "ada" })).text();
  expect(await passing.waiting()).toEqual([]);
  const demo = await remembering({ provider: "demo", model: "main" });
  await (await demo.native("I like green tea.", { chat_id: "a", user: "ada" })).text();
  expect(await demo.waiting()).toEqual([]);
});

test("an answer of the fast model that is no list of facts is dropped, and the turn has long been answered", async () => {
  const h = await remembering({}, "I could not find any.");
  expect(await (await h.native("Hi", { chat_id: "a", user: "ada" })).text()).toContain("event: done");
  await eventually(async () => h.fast.calls.length === 2 && (await h.waiting()).length === 0);
  expect(await h.stored()).toEqual([]);
  expect(h.logs.join()).toContain("The fast model gave no list of facts");
});

test("what the model saves by its tool is known in the next conversation", async () => {
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
