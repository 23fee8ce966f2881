import { expect, test } from "vitest";
import { scrubber } from "../../src/core/scrub/scrub.ts";
import { finish, reasoning, reply, scriptedModel, text, toolCall } from "../scripted-model.ts";
import { answering, runTurn, streamedText, tool, turnInput } from "./input.ts";

test("a reply without tools is one step", async () => {
  const model = scriptedModel([{ parts: [...text("Hel", "", "lo"), finish("stop", { input: 7, output: 2 })] }]);
  const { events, outcome } = await runTurn(turnInput(model));

  expect(events).toEqual([
    { type: "step-start", index: 0, stepType: "initial" },
    { type: "text-delta", text: "Hel" },
    { type: "text-delta", text: "lo" },
    { type: "step-finish", index: 0, finishReason: "stop", usage: { promptTokens: 7, completionTokens: 2 } },
  ]);
  expect(outcome).toMatchObject({
    status: "done",
    text: "Hello",
    produced: true,
    usage: { promptTokens: 7, completionTokens: 2 },
    messages: [{ role: "assistant", content: [{ type: "text", text: "Hello" }] }],
  });
});

test("the prompt is system, history, new messages, in this order", async () => {
  const model = scriptedModel([reply("ok")]);
  const history = [{ role: "assistant" as const, content: [{ type: "text" as const, text: "before" }] }];
  await runTurn(turnInput(model, { history, fresh: ["one", "two"], settings: { thinking: true, temperature: 0.5 } }));

  expect(model.calls[0]?.prompt).toEqual([
    { role: "system", content: "You are Assistant." },
    ...history,
    { role: "user", content: [{ type: "text", text: "one" }] },
    { role: "user", content: [{ type: "text", text: "two" }] },
  ]);
  expect(model.calls[0]?.options).toMatchObject({ temperature: 0.5, reasoning: "medium" });
  expect(model.calls[0]?.options).not.toHaveProperty("tools");
});

/** The reasoning block with a signature at its end, as Anthropic sends it. */
function signed(parts: ReturnType<typeof reasoning>, signature: string) {
  return parts.map((part) =>
    part.type === "reasoning-end" ? { ...part, providerMetadata: { scripted: { signature } } } : part,
  );
}

test("tools run between steps, and signed reasoning is replayed verbatim", async () => {
  const model = scriptedModel([
    {
      parts: [
        ...signed(reasoning("hm"), "sig-1"),
        ...text("Let me see. "),
        ...toolCall("c1", "clock", { zone: "UTC" }),
        finish("tool-calls", { input: 5, output: 3 }),
      ],
    },
    { parts: [...text("It is noon."), finish("stop", { input: 9, output: 4 })] },
  ]);
  const tools = new Map([["clock", tool("clock", answering({ time: "12:00" }))]]);
  const { events, outcome } = await runTurn(turnInput(model, { tools }));

  expect(events.map(({ type }) => type)).toEqual([
    "step-start",
    "produced",
    "reasoning-delta",
    "text-delta",
    "produced",
    "tool-call",
    "tool-result",
    "step-finish",
    "step-start",
    "text-delta",
    "step-finish",
  ]);
  expect(outcome).toMatchObject({
    text: "Let me see. It is noon.",
    reasoning: "hm",
    usage: { promptTokens: 14, completionTokens: 7 },
  });
  expect(streamedText(events)).toBe(outcome.text);
  expect(outcome.steps).toMatchObject([
    {
      stepType: "initial",
      toolCalls: [{ toolCallId: "c1", toolName: "clock", args: { zone: "UTC" } }],
      toolResults: [{ toolCallId: "c1", result: { time: "12:00" } }],
    },
    { stepType: "tool-result", toolCalls: [], text: "It is noon." },
  ]);
  expect(model.calls[1]?.prompt.slice(2)).toEqual([
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm", providerOptions: { scripted: { signature: "sig-1" } } },
        { type: "text", text: "Let me see. " },
        { type: "tool-call", toolCallId: "c1", toolName: "clock", input: { zone: "UTC" } },
      ],
    },
    {
      role: "tool",
      content: [
        {
          type: "tool-result",
          toolCallId: "c1",
          toolName: "clock",
          output: { type: "json", value: { time: "12:00" } },
        },
      ],
    },
  ]);
});

test("calls of one step run at once; the model gets their results in the order it asked", async () => {
  const slow = Promise.withResolvers<string>();
  const tools = new Map([
    ["slow", tool("slow", () => slow.promise)],
    ["fast", tool("fast", async () => "fast")],
  ]);
  const model = scriptedModel([
    { parts: [...toolCall("a", "slow", {}), ...toolCall("b", "fast", {}), finish("tool-calls")] },
    reply("done"),
  ]);
  const { events } = await runTurn(turnInput(model, { tools }), {
    onEvent: (event) => event.type === "tool-result" && event.id === "b" && slow.resolve("slow"),
  });

  expect(events.filter(({ type }) => type === "tool-result")).toMatchObject([{ id: "b" }, { id: "a" }]);
  expect(model.calls[1]?.prompt.at(-1)).toMatchObject({ content: [{ toolCallId: "a" }, { toolCallId: "b" }] });
});

test("of the name of a tool that does not exist only a name's length is kept, but the model sees all of it", async () => {
  const name = "x".repeat(100_000);
  const model = scriptedModel([{ parts: [...toolCall("c", name, {}), finish("tool-calls")] }, reply("I see.")]);
  const { events, outcome } = await runTurn(turnInput(model));
  const kept = "x".repeat(256);
  expect(events.filter(({ type }) => type.startsWith("tool-"))).toMatchObject([
    { type: "tool-call", name: kept },
    { type: "tool-result", name: kept, result: { error: `There is no tool named ${kept}` } },
  ]);
  expect(outcome.calls).toMatchObject([{ toolName: kept }]);
  expect(model.calls[1]?.prompt.at(-2)).toMatchObject({ content: [{ type: "tool-call", toolName: name }] });
});

test.each([
  ["an unknown tool", toolCall("c", "nope", {}), "There is no tool named nope"],
  ["arguments that are no JSON", toolCall("c", "echo", '{"a":'), "The arguments are not valid JSON"],
  ["arguments that are no object", toolCall("c", "echo", null), "The arguments are not a JSON object"],
  ["a tool that throws", toolCall("c", "broken", {}), "it broke"],
  ["a tool that throws before it starts", toolCall("c", "invalid", {}), "zone is required"],
])("%s gives the model an error, and the turn goes on", async (_what, call, error) => {
  const invalid = tool("invalid", answering(null));
  const tools = new Map([
    ["echo", tool("echo", answering("x"))],
    ["broken", tool("broken", () => Promise.reject(new Error("it broke")))],
    [
      "invalid",
      {
        ...invalid,
        validate: () => {
          throw new Error("zone is required");
        },
      },
    ],
  ]);
  const model = scriptedModel([{ parts: [...call, finish("tool-calls")] }, reply("I see.")]);
  const { events, outcome } = await runTurn(turnInput(model, { tools }));

  expect(outcome).toMatchObject({ status: "done", text: "I see." });
  expect(events).toContainEqual(expect.objectContaining({ type: "tool-result", id: "c", result: { error } }));
  expect(model.calls[1]?.prompt.at(-1)).toMatchObject({ content: [{ output: { type: "error-text", value: error } }] });
});

test("no more than 64 calls of one step wait for a person, either", async () => {
  const pay = { ...tool("pay", answering("paid")), needsApproval: true };
  const calls = Array.from({ length: 70 }, (_, index) => toolCall(`c${index}`, "pay"));
  const model = scriptedModel([{ parts: [...calls.flat(), finish("tool-calls")] }]);
  const conversation = { id: "c", ref: "assistant:web:c", ticket: 1 };
  const { outcome } = await runTurn(turnInput(model, { tools: new Map([["pay", pay]]), conversation }));
  if (outcome.status !== "approval") throw new Error(`It ended ${outcome.status}`);
  expect(outcome.pending).toHaveLength(64);
  expect(outcome.steps[0]?.toolResults).toHaveLength(6);
});

test("the results of one reply are bounded together; what is too long is an error that the model reads", async () => {
  const page = "x".repeat(1024 * 1024);
  const tools = new Map([["read", tool("read", answering(page))]]);
  const three = (step: string) => [1, 2, 3].flatMap((n) => toolCall(`${step}${n}`, "read"));
  const model = scriptedModel([
    { parts: [...three("a"), finish("tool-calls")] },
    { parts: [...three("b"), finish("tool-calls")] },
    reply("Enough."),
  ]);
  const { outcome, events } = await runTurn(turnInput(model, { tools }));
  const results = outcome.steps.flatMap(({ toolResults }) => toolResults.map(({ result }) => result));
  const refused = { error: expect.stringContaining("4194304 characters together") };
  expect(results.map((result) => (result === page ? "page" : result))).toEqual([
    "page",
    "page",
    "page",
    ...Array(3).fill(refused),
  ]);
  expect(events.filter(({ type }) => type === "tool-result").at(-1)).toMatchObject({ result: refused });
});

test("a call's arguments count as the model's output", async () => {
  const parts = toolCall("c", "look", { text: "x".repeat(4_000_000) });
  const { outcome } = await runTurn(turnInput(scriptedModel([{ parts: [...parts, finish("tool-calls")] }])));
  expect(outcome).toMatchObject({ status: "failed", failure: { code: "provider-failed" } });
});

test.each([
  ["that holds a secret", "call-top-secret-value"],
  ["of great length", "c".repeat(300)],
])("a provider's id %s is replaced by one of ours", async (_what, id) => {
  const tools = new Map([["look", tool("look", answering("seen"))]]);
  const model = scriptedModel([{ parts: [...toolCall(id, "look"), finish("tool-calls")] }, reply("Hi.")]);
  const scrub = scrubber(["top-secret-value"]);
  const { events, outcome } = await runTurn(turnInput(model, { tools, scrub }));
  expect(JSON.stringify([events, outcome])).not.toContain(id);
  expect(outcome.steps[0]?.toolResults).toMatchObject([{ toolCallId: expect.stringMatching(/^call_[0-9a-f]{24}$/) }]);
});

test("of one step, 64 calls are made; the model hears that it may ask again for the others", async () => {
  let made = 0;
  const look = tool("look", async () => {
    made += 1;
    return "seen";
  });
  const ids = Array.from({ length: 70 }, (_, index) => `c${index}`);
  const model = scriptedModel([
    { parts: [...ids.flatMap((id) => toolCall(id, "look")), finish("tool-calls")] },
    reply("Hi."),
  ]);
  const { outcome } = await runTurn(turnInput(model, { tools: new Map([["look", look]]) }));
  expect(outcome.status).toBe("done");
  expect(made).toBe(64);
  const results = outcome.steps[0]?.toolResults ?? [];
  expect(results.map(({ toolCallId }) => toolCallId)).toEqual(ids);
  expect(results.filter(({ result }) => result === "seen")).toHaveLength(64);
  expect(results.at(-1)?.result).toEqual({ error: expect.stringContaining("make this one again") });
});

test("a tool's result and its error are scrubbed", async () => {
  const scrub = scrubber(["top-secret-value"]);
  const tools = new Map([
    ["leak", tool("leak", answering({ deep: ["a top-secret-value b"] }))],
    ["fail", tool("fail", () => Promise.reject(new Error("401 for top-secret-value")))],
  ]);
  const model = scriptedModel([
    { parts: [...toolCall("a", "leak", {}), ...toolCall("b", "fail", {}), finish("tool-calls")] },
    reply("done"),
  ]);
  const { events, outcome } = await runTurn(turnInput(model, { tools, scrub }));

  expect(JSON.stringify([events, outcome, model.calls.map(({ prompt }) => prompt)])).not.toContain("top-secret-value");
  expect(events).toContainEqual(
    expect.objectContaining({ type: "tool-result", id: "a", result: { deep: ["a [secret] b"] } }),
  );
});

test("a secret that the model says is scrubbed, also over several deltas and in a tool's arguments", async () => {
  const scrub = scrubber(["top-secret-value"]);
  const given: unknown[] = [];
  const noting = (name: string) =>
    tool(name, async (args) => {
      given.push([name, args]);
      return "done";
    });
  const tools = new Map([
    ["send", { ...noting("send"), seesSecrets: true }],
    ["keep", noting("keep")],
  ]);
  const deltas = ["The value is top", "-secret", "-val", "ue, and top-", "notch."];
  const model = scriptedModel([
    {
      parts: [
        ...text(...deltas),
        ...toolCall("a", "send", { to: "top-secret-value" }),
        ...toolCall("b", "keep", { note: "top-secret-value" }),
        finish("tool-calls"),
      ],
    },
    reply("It ends in top-secret"),
  ]);
  const { events, outcome } = await runTurn(turnInput(model, { tools, scrub }));

  expect(JSON.stringify([events, outcome, model.calls[1]?.prompt])).not.toContain("top-secret-value");
  expect(streamedText(events)).toBe("The value is [secret], and top-notch.It ends in top-secret");
  expect(outcome.text).toBe(streamedText(events));
  expect(events).toContainEqual({ type: "tool-call", id: "a", name: "send", args: { to: "[secret]" } });
  // The arguments of `keep` may be stored, so they contain no secret.
  expect(given).toEqual([
    ["send", { to: "top-secret-value" }],
    ["keep", { note: "[secret]" }],
  ]);
});

test("a secret over two blocks or two steps is not whole in the reply", async () => {
  const tools = new Map([["look", tool("look", answering("seen"))]]);
  const model = scriptedModel([
    {
      parts: [
        ...[...reasoning("Use top-"), ...reasoning("secret-value.")],
        ...[...text("First top-secret"), ...text("-value, then top-")],
        ...[...toolCall("a", "look"), finish("tool-calls")],
      ],
    },
    reply("secret-value; top-notch."),
  ]);
  const { events, outcome } = await runTurn(turnInput(model, { tools, scrub: scrubber(["top-secret-value"]) }));
  expect(outcome.text).toBe("First top-secret[secret], then top-[secret]; top-notch.");
  expect(outcome.reasoning).toBe("Use top-[secret].");
  expect(streamedText(events)).toBe(outcome.text);
  expect(outcome.steps.map((step) => step.text).join("")).toBe(outcome.text);
});

test("blocks that come at the same time keep their words and their secrets apart", async () => {
  const said = (id: string, delta: string) => ({ type: "text-delta" as const, id, delta });
  const parts = [
    { type: "text-start" as const, id: "a" },
    { type: "text-start" as const, id: "b" },
    ...[said("a", "one "), said("b", "the key: top-sec"), said("a", "two"), said("b", "ret-value yes")],
    { type: "text-end" as const, id: "a" },
    { type: "text-end" as const, id: "b" },
  ];
  const model = scriptedModel([{ parts: [...parts, finish()] }]);
  const { outcome } = await runTurn(turnInput(model, { scrub: scrubber(["top-secret-value"]) }));
  expect(outcome.messages).toMatchObject([{ content: [{ text: "one two" }, { text: "the key: [secret] yes" }] }]);
});

test("arguments that are no object are replayed as an empty one, which every provider takes", async () => {
  const tools = new Map([["send", tool("send", answering("sent"))]]);
  const calls = [toolCall("a", "send", '"bare"'), toolCall("b", "send", ["x"]), toolCall("c", "send", null)];
  const model = scriptedModel([{ parts: [...calls.flat(), finish("tool-calls")] }, reply("done")]);
  await runTurn(turnInput(model, { tools }));

  const assistant = model.calls[1]?.prompt.find(({ role }) => role === "assistant");
  const inputs = [...(assistant?.content ?? [])].map(
    (part) => typeof part === "object" && "input" in part && part.input,
  );
  expect(inputs).toEqual([{}, {}, {}]);
});

test("the last step may not ask for tools, so that there is an answer", async () => {
  const model = scriptedModel((call) =>
    call.options.toolChoice?.type === "none"
      ? reply("enough")
      : { parts: [...toolCall("c", "echo", {}), finish("tool-calls")] },
  );
  const input = turnInput(model, { tools: new Map([["echo", tool("echo", answering("x"))]]) });
  const { outcome } = await runTurn({ ...input, limits: { ...input.limits, maxSteps: 3 } });

  expect(outcome).toMatchObject({ status: "done", text: "enough" });
  expect(outcome.steps).toHaveLength(3);
});

test("a model that still calls tools in its last step leaves no call without a result", async () => {
  const model = scriptedModel([{ parts: [...text("x"), ...toolCall("c", "echo", {}), finish("tool-calls")] }]);
  const input = turnInput(model, { tools: new Map([["echo", tool("echo", answering("x"))]]) });
  const { outcome } = await runTurn({ ...input, limits: { ...input.limits, maxSteps: 1 } });

  expect(outcome).toMatchObject({
    status: "done",
    messages: [{ role: "assistant", content: [{ type: "text", text: "x" }] }],
  });
});
