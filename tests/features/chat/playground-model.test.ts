import { expect, test } from "vitest";
import { reply, scriptedModel } from "../../scripted-model.ts";
import { type ChatHarness, chatHarness } from "./chat.ts";

const play = async (h: ChatHarness, model: unknown, headers: Record<string, string>) => {
  const json = { messages: [{ role: "user", content: "Hi" }], model };
  const response = await h.request(`/api/instances/${h.agent.slug}/playground/stream`, {
    method: "POST",
    headers,
    json,
  });
  return { status: response.status, text: await response.text() };
};

const asked = async (h: ChatHarness) => (await h.stored()).turns.map(({ provider, model }) => `${provider}:${model}`);

test("the playground asks another model for one turn, and leaves the agent as it is", async () => {
  const h = await chatHarness(
    scriptedModel(() => reply("Hello.")),
    { provider: "openai", model: "usual" },
  );
  const headers = await h.as("member");
  for (const model of ["anthropic:other", "openai:org/a:b", null, undefined]) {
    expect((await play(h, model, headers)).status).toBe(200);
  }
  expect(await asked(h)).toEqual(["anthropic:other", "openai:org/a:b", "openai:usual", "openai:usual"]);
  const { instance } = await (await h.request(`/api/instances/${h.agent.slug}`, { headers })).json();
  expect([instance.provider, instance.model]).toEqual(["openai", "usual"]);
});

test("no client endpoint takes another model, nor does a person who could not set one", async () => {
  const h = await chatHarness(
    scriptedModel(() => reply("Hello.")),
    { provider: "openai", model: "usual" },
  );
  const viewer = await h.as("viewer");
  const refused = await play(h, "openai:dear", viewer);
  expect([refused.status, JSON.parse(refused.text).message]).toEqual([403, "Missing permission: agent:write"]);
  expect((await play(h, undefined, viewer)).status).toBe(200);
  await (await h.native("Hi", { model: "openai:dear" })).text();
  expect(await asked(h)).toEqual(["openai:usual", "openai:usual"]);
});

test("any text that is not provider:model is ignored, from every caller", async () => {
  const h = await chatHarness(
    scriptedModel(() => reply("Hello.")),
    { provider: "openai", model: "usual" },
  );
  const viewer = await h.as("viewer");
  const ignored = [
    h.agent.slug,
    "cheaper",
    "gpt:4",
    "../../secrets",
    "openai:",
    "openai:a?b",
    "OPENAI:x",
    "",
    "x".repeat(300),
  ];
  for (const model of ignored) expect([model, (await play(h, model, viewer)).status]).toEqual([model, 200]);
  expect(await asked(h)).toEqual(ignored.map(() => "openai:usual"));
  const refused = await play(h, 7, viewer);
  expect([refused.status, JSON.parse(refused.text).message]).toEqual([400, expect.stringMatching(/^model: /)]);
});
