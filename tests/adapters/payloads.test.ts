import { expect, test } from "vitest";
import { createModels } from "../../src/adapters/models/index.ts";
import { TestClock } from "../clock.ts";
import { runTurn, streamedText, turnInput } from "../turn/input.ts";
import { inWords, readStep } from "./read-step.ts";
import { recorded, specs } from "./recorded.ts";

const compatible = specs["openai-compatible"];
const responses = specs.openai;

test.each([
  [
    "openai-compatible/text.sse",
    compatible,
    { text: "Grüße aus Zürich 🏔️.", reasoning: "", calls: [], reason: "stop" },
    [21, 9, 16],
  ],
  [
    "openai-compatible/parallel-tools.sse",
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
    "openai-compatible/deepseek-reasoning.sse",
    compatible,
    { text: "It is 4.", reasoning: "Two and two", calls: [], reason: "stop" },
    [12, 30],
  ],
  [
    "openai-compatible/openrouter-reasoning-tool.sse",
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
    "ollama/tool.sse",
    specs.ollama,
    {
      text: "",
      reasoning: "",
      calls: [{ id: "call_x7", name: "weather", args: { city: "Bern" } }],
      reason: "tool-calls",
    },
    [160, 22],
  ],
  ["openai/text.sse", responses, { text: "Noon it is.", reasoning: "", calls: [], reason: "stop" }, [31, 18]],
] as const)("%s is read completely", async (file, spec, expected, [
  promptTokens,
  completionTokens,
  cachedTokens,
]: readonly [number, number, number?]) => {
  const model = await createModels(await recorded(file)).resolve(spec);
  const { step, error } = await readStep(model, "Hi");

  expect(error).toBeUndefined();
  const { text, reasoning, finish, usage } = step;
  // Nothing here is secret, so callers see the same arguments as the tool.
  const calls = step.calls.map(({ shown, tool, ...call }) => {
    expect([shown, tool]).toEqual([call.args, call.name]);
    return call;
  });
  expect({ text, reasoning, calls, reason: finish?.reason }).toEqual(expected);
  expect(usage).toEqual({ promptTokens, completionTokens, cachedTokens });
});

test("tool input opens the step's output before the call is complete", async () => {
  const model = await createModels(await recorded("openai-compatible/parallel-tools.sse")).resolve(compatible);
  const { events } = await readStep(model, "Hi");
  expect(events.map(({ type }) => type)).toEqual(["produced", "produced", "tool-call", "tool-call"]);
});

test("the responses API keeps its encrypted reasoning for the next step", async () => {
  const model = await createModels(await recorded("openai/text.sse")).resolve(responses);
  const { step } = await readStep(model, "Hi");
  expect(JSON.stringify(step.message(() => true))).toContain("gAAAAB");
});

test.each([
  "openai/out-of-quota.sse",
  "openai/out-of-quota-event.sse",
])("%s is a failure that no waiting fixes, and no throttle", async (file) => {
  const { fetch, requests } = await recorded(file);
  const model = await createModels({ fetch }).resolve(responses);
  const { outcome } = await runTurn(turnInput(model), { clock: new TestClock() });

  expect(outcome).toMatchObject({
    status: "failed",
    failure: { code: "provider-failed", message: "Model provider error" },
  });
  if (outcome.status === "failed") expect(inWords(outcome.failure.cause)).toContain("current quota");
  expect(requests).toHaveLength(1);
});

test.each([
  ["google/blocked-prompt.sse", "PROHIBITED_CONTENT"],
  ["google/blocked-reply.sse", "SAFETY"],
])("%s is a clear failure, and no empty reply", async (file, reason) => {
  const { fetch, requests } = await recorded(file);
  const model = await createModels({ fetch }).resolve(specs.google);
  const { events, outcome } = await runTurn(turnInput(model), { clock: new TestClock() });

  expect(outcome).toMatchObject({
    status: "failed",
    produced: false,
    failure: { code: "provider-failed", message: "The model provider blocked this prompt or its reply" },
  });
  if (outcome.status === "failed") expect(inWords(outcome.failure.cause)).toContain(reason);
  expect(streamedText(events)).toBe("");
  expect(requests).toHaveLength(1);
});
