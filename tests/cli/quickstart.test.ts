import { expect, test } from "vitest";
import { quickstart, readQuickstart } from "../../src/cli/quickstart.ts";
import { environmentKeys } from "../../src/core/config.ts";
import { type Harness, harness } from "../harness.ts";

const note = "The built-in demo model answers";

function start({ engine }: Harness, flags: Record<string, string>): Promise<string> {
  return quickstart({ engine, address: "http://localhost:4000" }, readQuickstart(flags, {}));
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

test("the note shows as long as the demo model answers, also on a later start", async () => {
  const h = await harness();
  expect(await start(h, {})).toContain(note);
  const again = await start(h, { model: "openai:gpt-5" });
  // The agent is there already: the flag changes nothing.
  expect(again).toContain("shown when it was made");
  expect(again).toContain(note);
  expect(again).toContain("agent-engine quickstart --slug=local --model=ollama:qwen3:8b");
});
