import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { createModels } from "../../src/adapters/models/index.ts";
import type { ModelSpec } from "../../src/core/ports.ts";
import { readStep } from "./read-step.ts";

/** A fetch that answers with a payload in pieces of five bytes, so that events and letters are cut in two. */
async function replaying(file: string): Promise<typeof fetch> {
  const bytes = await readFile(new URL(`../fixtures/providers/${file}`, import.meta.url));
  return async () => {
    let at = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at >= bytes.length) return controller.close();
        controller.enqueue(new Uint8Array(bytes.subarray(at, at + 5)));
        at += 5;
      },
    });
    return new Response(body, { headers: { "Content-Type": "text/event-stream; charset=utf-8" } });
  };
}

const compatible: ModelSpec = {
  provider: "openai-compatible",
  model: "m",
  baseUrl: "http://models.example/v1",
  apiKey: undefined,
};
const responses: ModelSpec = { provider: "openai", model: "gpt-5-mini", baseUrl: undefined, apiKey: "sk-test" };

test.each([
  [
    "openai-chat-text.sse",
    compatible,
    { text: "Grüße aus Zürich 🏔️.", reasoning: "", calls: [], reason: "stop" },
    [21, 9],
  ],
  [
    "openai-chat-parallel-tools.sse",
    compatible,
    {
      text: "",
      reasoning: "",
      calls: [
        { id: "call_A1", name: "weather", args: { city: "Bern" } },
        { id: "call_B2", name: "currentTime", args: {} },
      ],
      reason: "tool-calls",
    },
    [88, 47],
  ],
  [
    "deepseek-reasoning.sse",
    compatible,
    { text: "It is 4.", reasoning: "Two and two", calls: [], reason: "stop" },
    [12, 30],
  ],
  [
    "openrouter-reasoning-tool.sse",
    compatible,
    {
      text: "",
      reasoning: "The user wants the time.",
      calls: [{ id: "call_9f", name: "currentTime", args: { zone: "UTC" } }],
      reason: "tool-calls",
    },
    [150, 33],
  ],
  [
    "ollama-tool.sse",
    compatible,
    {
      text: "",
      reasoning: "",
      calls: [{ id: "call_x7", name: "weather", args: { city: "Bern" } }],
      reason: "tool-calls",
    },
    [160, 22],
  ],
  ["openai-responses-text.sse", responses, { text: "Noon it is.", reasoning: "", calls: [], reason: "stop" }, [31, 18]],
] as const)("%s is read whole", async (file, spec, expected, [promptTokens, completionTokens]) => {
  const model = await createModels({ fetch: await replaying(file) }).resolve(spec);
  const { step, error } = await readStep(model, "Hi");

  expect(error).toBeUndefined();
  const { text, reasoning, calls, finish, usage } = step;
  expect({ text, reasoning, calls, reason: finish?.reason }).toEqual(expected);
  expect(usage).toEqual({ promptTokens, completionTokens });
});

test("tool input opens the step's output before the call is complete", async () => {
  const model = await createModels({ fetch: await replaying("openai-chat-parallel-tools.sse") }).resolve(compatible);
  const { events } = await readStep(model, "Hi");
  expect(events.map(({ type }) => type)).toEqual(["produced", "produced", "tool-call", "tool-call"]);
});

test("the responses API keeps its encrypted reasoning for the next step", async () => {
  const model = await createModels({ fetch: await replaying("openai-responses-text.sse") }).resolve(responses);
  const { step } = await readStep(model, "Hi");
  expect(JSON.stringify(step.message(() => true))).toContain("gAAAAB");
});
