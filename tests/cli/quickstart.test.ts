import { expect, test } from "vitest";
import { commandName } from "../../src/cli/command-name.ts";
import { quickstart, readQuickstart } from "../../src/cli/quickstart.ts";
import { environmentKeys } from "../../src/core/config.ts";
import { type Harness, harness } from "../harness.ts";

const note = "echoes and is no language model";

function start({ engine }: Harness, flags: Record<string, string>, address = "http://localhost:4000"): Promise<string> {
  return quickstart({ engine, address }, { ...readQuickstart(flags, {}), panel: true });
}

test.each<[Record<string, string>, Record<string, string>, boolean]>([
  [{}, {}, true],
  [{ OLLAMA_BASE_URL: "http://localhost:11434" }, {}, true],
  [{ OPENAI_COMPATIBLE_BASE_URL: "http://localhost:8000/v1" }, {}, true],
  [{ OPENAI_COMPATIBLE_API_KEY: "k" }, {}, true],
  [{ OPENAI_BASE_URL: "http://localhost:8000/v1" }, {}, true],
  [{ OPENAI_API_KEY: "sk-1" }, {}, false],
  [{ MISTRAL_API_KEY: "k" }, {}, false],
  [{ OPENAI_API_KEY: "sk-1" }, { model: "demo:demo" }, true],
  [{ OLLAMA_BASE_URL: "http://localhost:11434" }, { model: "ollama:qwen3:8b" }, false],
])("with %j and the flags %j the note of the demo model shows: %s", async (environment, flags, shown) => {
  const h = await harness({ environmentKeys: Object.fromEntries(environmentKeys(environment)) });
  expect((await start(h, flags)).includes(note)).toBe(shown);
});

test("names the model that answers, changes it at a later start, and says when it can't answer yet", async () => {
  const h = await harness();
  const first = await start(h, {});
  expect(first).toMatch(/Model +demo:demo, built in/);
  expect(first).toContain("agent-engine quickstart --model=ollama:qwen3:8b");
  const again = await start(h, { model: "openai:gpt-5" });
  expect(again).toContain("shown when it was made");
  expect(again).toMatch(/Model +openai:gpt-5$/m);
  expect(again).not.toContain(note);
  expect(again).toMatch(/openai can't answer yet: start again with OPENAI_API_KEY set, or store .*openai_api_key/);
});

test("the hint to chat names the server's address where the chat would not look for it", async () => {
  const h = await harness();
  expect(await start(h, {})).toMatch(/agent-engine chat assistant$/m);
  expect(await start(h, {}, "http://localhost:4711")).toMatch(/chat assistant --url=http:\/\/localhost:4711$/m);
});

test("a provider with a key brings its fast model along, and says so", async () => {
  const h = await harness({ environmentKeys: { mistral_api_key: "k" } });
  expect(await start(h, {})).toMatch(/Fast +mistral:mistral-small-latest, for titles and memories/);
});

test.each([
  ["gpt-5", /--model gpt-5 is not provider:model.*name one of openai, anthropic/],
  ["foo:bar", /name one of openai/],
  ["openai:", /name its model/],
  ["openai", /name its model/],
  ["demo:gpt-5", /demo:demo is the only model/],
])("--model=%s is refused before anything is made", (model, reason) => {
  expect(() => readQuickstart({ model }, {})).toThrow(reason);
});

test("if the agent can't be created, no owner is left whose password nobody knows", async () => {
  const h = await harness();
  await expect(start(h, { slug: "Bad Slug" })).rejects.toThrow("slug");
  expect(await start(h, {})).toMatch(/Password +\S+ +\(shown only now\)/);
});

test.each<[Record<string, string>, string]>([
  [{}, "agent-engine"],
  [{ npm_lifecycle_event: "npx", npm_lifecycle_script: "'agent-engine' 'doctor'" }, "npx agent-engine"],
  [{ npm_lifecycle_event: "npx", npm_lifecycle_script: "'vitest'" }, "agent-engine"],
  [{ npm_lifecycle_event: "start" }, "npx agent-engine"],
  [{ npm_lifecycle_event: "test" }, "agent-engine"],
])("in the environment %j the hints name %s", (environment, name) => {
  expect(commandName(environment)).toBe(name);
});
