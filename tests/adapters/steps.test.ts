import { expect, test } from "vitest";
import { createModels } from "../../src/adapters/models/index.ts";
import { scrubber } from "../../src/core/scrub/scrub.ts";
import { StepFold } from "../../src/turn/step.ts";
import { answering, runTurn, streamedText, tool, turnInput } from "../turn/input.ts";
import { type RemoteProvider, recorded, specs } from "./recorded.ts";

const call = { zone: "Europe/Zurich" };
const noon = { time: "12:00" };

const signature = "EqQBCkYICRgCKkDjD+Rq9Zz7w0xV3n1uA8m2b/6T8vYkGJ1c5oXh4rL9sWfE0pQ==";
const encrypted = "gAAAAABpH8xq-encrypted-thoughts-Zm9yIHRoZSBuZXh0IHN0ZXA=";

/** The second request of a turn: the first step verbatim, with its signatures, and the tool's result. */
const replays: Record<RemoteProvider, { url: string; thinking: object; second: object }> = {
  openai: {
    url: "https://api.openai.com/v1/responses",
    thinking: { reasoning: { effort: "medium" }, store: false, include: ["reasoning.encrypted_content"] },
    second: {
      store: false,
      include: ["reasoning.encrypted_content"],
      input: [
        { role: "developer", content: "You are Assistant." },
        { role: "user", content: [{ type: "input_text", text: "Hello" }] },
        {
          type: "reasoning",
          id: "rs_0a1",
          encrypted_content: encrypted,
          summary: [
            { type: "summary_text", text: "The user wants" },
            { type: "summary_text", text: " the time." },
          ],
        },
        // Nothing is stored at the provider, so these two have no ids to refer to.
        { role: "assistant", content: "Let me look." },
        { type: "function_call", call_id: "call_Qm7", name: "currentTime", arguments: JSON.stringify(call) },
        { type: "function_call_output", call_id: "call_Qm7", output: JSON.stringify(noon) },
      ],
    },
  },
  anthropic: {
    url: "https://api.anthropic.com/v1/messages",
    thinking: { thinking: { type: "adaptive", display: "summarized" }, max_tokens: 128_000 },
    second: {
      messages: [
        { role: "user", content: [{ type: "text", text: "Hello" }] },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "The user wants the time.", signature },
            {
              type: "redacted_thinking",
              data: "EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIwxtE3rAFBa8cr3qpP",
            },
            { type: "text", text: "Let me look." },
            { type: "tool_use", id: "toolu_01T1", name: "currentTime", input: call },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_01T1", content: JSON.stringify(noon) }] },
      ],
    },
  },
  google: {
    url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
    thinking: { generationConfig: { thinkingConfig: { thinkingLevel: "medium", includeThoughts: true } } },
    second: {
      contents: [
        { role: "user", parts: [{ text: "Hello" }] },
        {
          role: "model",
          parts: [
            { text: "The user wants the time.", thought: true },
            { text: "Let me look." },
            {
              functionCall: { id: "ytq2dx9u", name: "currentTime", args: call },
              thoughtSignature: "CiQB0e2Kb3d5mUo9m0Zk1lXv8q2JrT7pN4sW6xY0aBcDeFgHiJkSAhgB",
            },
          ],
        },
        { role: "user", parts: [{ functionResponse: { id: "ytq2dx9u", name: "currentTime" } }] },
      ],
    },
  },
  mistral: {
    url: "https://api.mistral.ai/v1/chat/completions",
    thinking: { reasoning_effort: "high" },
    second: {
      messages: [
        { role: "system" },
        { role: "user" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: [{ type: "text", text: "The user wants the time." }] },
            { type: "text", text: "Let me look." },
          ],
          tool_calls: [{ id: "yT4kQp1Za", function: { name: "currentTime", arguments: JSON.stringify(call) } }],
        },
        { role: "tool", tool_call_id: "yT4kQp1Za", content: JSON.stringify(noon) },
      ],
    },
  },
  ollama: {
    url: "http://localhost:11434/v1/chat/completions",
    thinking: { reasoning_effort: "medium", stream_options: { include_usage: true } },
    second: chatReplay("call_k2b7"),
  },
  "openai-compatible": {
    url: "http://models.example/v1/chat/completions",
    thinking: { reasoning_effort: "medium", stream_options: { include_usage: true } },
    second: chatReplay("call_00_xY"),
  },
};

function chatReplay(id: string): object {
  return {
    messages: [
      { role: "system", content: "You are Assistant." },
      { role: "user", content: "Hello" },
      {
        role: "assistant",
        content: "Let me look.",
        reasoning_content: "The user wants the time.",
        tool_calls: [{ id, function: { name: "currentTime", arguments: JSON.stringify(call) } }],
      },
      { role: "tool", tool_call_id: id, content: JSON.stringify(noon) },
    ],
  };
}

/** The tokens of both prompts that a provider had in its cache, and wrote to it, as each reports them. */
const cachedTokens: Record<RemoteProvider, { cachedTokens?: number; cacheWriteTokens?: number }> = {
  openai: { cachedTokens: 225 },
  anthropic: { cachedTokens: 225, cacheWriteTokens: 5 },
  google: { cachedTokens: 225 },
  mistral: { cachedTokens: 225 },
  ollama: {},
  "openai-compatible": { cachedTokens: 100 },
};

const names = Object.keys(replays) as RemoteProvider[];

test.each(
  names,
)("%s: a turn of two steps reasons, calls a tool, and continues from its own signed texts", async (name) => {
  const { fetch, requests } = await recorded(`${name}/reasoning-tool.sse`, `${name}/answer.sse`);
  const model = await createModels({ fetch }).resolve(specs[name]);
  const { events, outcome } = await runTurn(
    turnInput(model, {
      settings: { thinking: true },
      tools: new Map([["currentTime", tool("currentTime", answering(noon))]]),
    }),
  );

  expect(outcome.status).toBe("done");
  const kinds = events.map(({ type }) => type);
  expect([kinds[1], kinds[kinds.indexOf("tool-call") - 1]]).toEqual(["produced", "produced"]);
  const shown = kinds.filter((kind) => kind !== "produced");
  expect(shown.filter((kind, index) => kind !== shown[index - 1])).toEqual([
    "step-start",
    "reasoning-delta",
    "text-delta",
    "tool-call",
    "tool-result",
    "step-finish",
    "step-start",
    "text-delta",
    "step-finish",
  ]);
  expect(outcome.reasoning).toBe("The user wants the time.");
  expect(streamedText(events)).toBe("Let me look.In Zürich it is noon 🕛.");
  expect(outcome.steps[0]).toMatchObject({
    toolCalls: [{ toolName: "currentTime", args: call }],
    toolResults: [{ result: noon }],
    finishReason: "tool-calls",
  });
  expect(outcome.steps[1]?.finishReason).toBe("stop");
  // 125 with the cached tokens, then 155; reasoning counts as output.
  expect(outcome.usage).toEqual({ promptTokens: 280, completionTokens: 72, ...cachedTokens[name] });

  const { url, thinking, second } = replays[name];
  expect(requests.map((request) => request.url)).toEqual([url, url]);
  expect(requests[0]?.body).toMatchObject(thinking);
  expect(requests[1]?.body).toMatchObject(thinking);
  expect(requests[1]?.body).toMatchObject(second);
});

test.each(names)("%s: the last step may not call, but still knows its tools", async (name) => {
  const { fetch, requests } = await recorded(`${name}/reasoning-tool.sse`, `${name}/answer.sse`);
  const model = await createModels({ fetch }).resolve(specs[name]);
  const input = turnInput(model, { tools: new Map([["currentTime", tool("currentTime", answering(noon))]]) });
  await runTurn({ ...input, limits: { ...input.limits, maxSteps: 2 } });

  const [first, last] = requests.map(({ body }) => JSON.stringify(body));
  expect(first).not.toMatch(/"(?:none|NONE)"/);
  expect(last).toMatch(/"(?:none|NONE)"/);
  expect(JSON.stringify(requests[1]?.body.tools)).toContain("currentTime");
  // No reasoning is requested without a setting.
  expect(requests[0]?.body).not.toHaveProperty("reasoning_effort");
  expect(first).not.toContain("includeThoughts");
});

test("replays a step in its original order, without calls that have no result", () => {
  const step = new StepFold(0, "initial", { scrub: scrubber([]), tools: new Map() });
  const signed = (thought: string) => ({ anthropic: { signature: thought } });
  for (const id of ["a", "b", "c"]) {
    step.take({ type: "reasoning-start", id, providerMetadata: signed(id) });
    step.take({ type: "tool-call", toolCallId: `call-${id}`, toolName: "clock", input: "{}" });
  }
  expect(step.message(({ id }) => id !== "call-b")?.content).toMatchObject([
    { type: "reasoning", providerOptions: signed("a") },
    { type: "tool-call", toolCallId: "call-a" },
    { type: "reasoning", providerOptions: signed("b") },
    { type: "reasoning", providerOptions: signed("c") },
    { type: "tool-call", toolCallId: "call-c" },
  ]);
});
