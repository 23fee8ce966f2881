import { expect, test } from "vitest";
import { scrubber } from "../../src/core/scrub/scrub.ts";
import type { JsonValue, Tool, TurnInput, TurnOutcome } from "../../src/turn/types.ts";
import { finish, reasoning, reply, scriptedModel, text, toolCall } from "../scripted-model.ts";
import { runTurn, tool, turnInput } from "./input.ts";

const conversation = { id: "c", ref: "assistant:web:api-c", ticket: 1 };

function tools() {
  const made: unknown[] = [];
  const noting = (name: string, needsApproval: boolean): Tool => ({
    ...tool(name, async (args) => {
      made.push([name, args]);
      return `${name} done`;
    }),
    needsApproval,
  });
  const map = new Map([
    ["look", noting("look", false)],
    ["shop__pay", { ...noting("shop:pay", true), name: "shop:pay" }],
  ]);
  return { made, tools: map };
}

/** An id of the engine's, since models may give all calls the same id. */
const ownId = expect.stringMatching(/^call_[0-9a-f]{24}$/);

const asking = () =>
  scriptedModel([
    {
      parts: [
        ...reasoning("I must pay."),
        ...text("Let me see."),
        ...toolCall("l", "look", {}),
        ...toolCall("p", "shop__pay", { amount: 5 }),
        finish("tool-calls", { input: 7, output: 3 }),
      ],
    },
  ]);

async function stopped(overrides: Partial<TurnInput> = {}) {
  const { made, tools: map } = tools();
  const { events, outcome } = await runTurn(turnInput(asking(), { conversation, tools: map, ...overrides }));
  if (outcome.status !== "approval") throw new Error(`The turn ended as ${outcome.status}`);
  return { made, map, events, outcome };
}

test("a turn stops at a call that a person decides about, when all its other calls are made", async () => {
  const { made, events, outcome } = await stopped();

  expect(made).toEqual([["look", {}]]);
  expect(outcome).toMatchObject({
    text: "Let me see.",
    pending: [{ toolCallId: ownId, modelName: "shop__pay", toolName: "shop:pay", args: { amount: 5 } }],
    usage: { promptTokens: 7, completionTokens: 3 },
    calls: [{ toolCallId: "l", toolName: "look", ok: true }],
  });
  expect(events.at(-1)).toMatchObject({ type: "step-finish", finishReason: "approval" });
  expect(outcome.steps[0]).toMatchObject({
    toolCalls: [{ toolName: "look" }, { toolName: "shop:pay" }],
    toolResults: [{ toolCallId: "l", result: "look done" }],
    finishReason: "approval",
  });
});

test("the transcript gets no call without a result", async () => {
  const { outcome } = await stopped();
  const calls = outcome.messages.flatMap(({ role, content }) =>
    role === "assistant" ? content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : [])) : [],
  );
  expect(calls).toEqual(["l"]);
});

async function resume(
  outcome: Extract<TurnOutcome, { status: "approval" }>,
  map: TurnInput["tools"],
  approved: boolean,
) {
  const model = scriptedModel([reply("Paid, or not.")]);
  const decided = outcome.pending.map((call) => ({ ...call, approved, reason: approved ? null : "too dear" }));
  const ran = await runTurn(
    turnInput(model, { conversation, tools: map, continued: { messages: outcome.suspended, decided } }),
  );
  return { ...ran, model };
}

test("approved, the call is made and the model goes on where it stopped", async () => {
  const { made, map, outcome } = await stopped();
  const { events, outcome: whole, model } = await resume(outcome, map, true);

  expect(made).toEqual([
    ["look", {}],
    ["shop:pay", { amount: 5 }],
  ]);
  expect(events.slice(0, 5)).toMatchObject([
    { type: "step-start", index: 0, stepType: "tool-result" },
    { type: "tool-call", id: ownId, name: "shop:pay", args: { amount: 5 } },
    { type: "tool-result", id: ownId, name: "shop:pay", ok: true, durationMs: 0, result: "shop:pay done" },
    { type: "step-finish", index: 0 },
    { type: "step-start", index: 1 },
  ]);
  expect(whole).toMatchObject({ status: "done", text: "Paid, or not." });
  const seen = model.calls[0]?.prompt.slice(-2) as unknown as { role: string; content: JsonValue[] }[];
  expect(seen).toMatchObject([
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "I must pay." },
        { type: "text", text: "Let me see." },
        { type: "tool-call", toolCallId: "l" },
        { type: "tool-call", toolCallId: ownId, toolName: "shop__pay" },
      ],
    },
    { role: "tool", content: [{ toolCallId: "l" }, { toolCallId: ownId, output: { value: "shop:pay done" } }] },
  ]);
  // The messages of both turns together are a whole transcript.
  expect(whole.messages).toMatchObject([
    { role: "assistant", content: [{ type: "tool-call", toolCallId: ownId }] },
    { role: "tool", content: [{ toolCallId: ownId }] },
    { role: "assistant", content: [{ type: "text" }] },
  ]);
});

test("once approved, no other tool that has its name by now runs", async () => {
  const { made, map, outcome } = await stopped();
  const other = { ...tool("shop:steal", async () => "stolen"), needsApproval: true };
  const { events } = await resume(outcome, new Map([...map, ["shop__pay", other]]), true);
  expect(made).toEqual([["look", {}]]);
  expect(events).toContainEqual(
    expect.objectContaining({
      type: "tool-result",
      id: ownId,
      result: { error: "There is no tool named shop:pay" },
    }),
  );
});

test("refused, the model hears it with the reason, and nothing is made", async () => {
  const { made, map, outcome } = await stopped();
  const { events, outcome: whole } = await resume(outcome, map, false);
  expect(made).toEqual([["look", {}]]);
  expect(events).toContainEqual(
    expect.objectContaining({
      type: "tool-result",
      id: ownId,
      result: { error: "A person refused this call: too dear" },
      withheld: "refused",
    }),
  );
  expect(whole).toMatchObject({ status: "done", calls: [{ toolCallId: ownId, ok: false, withheld: "refused" }] });
});

test("where nothing is stored, no person can approve: the model hears that", async () => {
  const { made, tools: map } = tools();
  const model = scriptedModel([
    { parts: [...toolCall("p", "shop__pay", {}), finish("tool-calls")] },
    reply("I can't pay."),
  ]);
  const { events, outcome } = await runTurn(turnInput(model, { conversation: null, tools: map }));
  expect(made).toEqual([]);
  expect(events).toContainEqual(expect.objectContaining({ type: "tool-result", withheld: "undecidable" }));
  expect(outcome).toMatchObject({ status: "done", text: "I can't pay.", calls: [{ toolCallId: ownId, ok: false }] });
});

test("a call that no tool would take waits for no approval: the model hears that", async () => {
  const { made, tools: map } = tools();
  const model = scriptedModel([
    { parts: [...toolCall("p", "shop__pay", null), finish("tool-calls")] },
    reply("How much?"),
  ]);
  const { events, outcome } = await runTurn(turnInput(model, { conversation, tools: map }));
  expect(made).toEqual([]);
  expect(outcome).toMatchObject({ status: "done", text: "How much?" });
  const result = { error: "The arguments are not a JSON object" };
  expect(events).toContainEqual(expect.objectContaining({ type: "tool-result", id: ownId, result }));
});

test("a call with a secret waits for no approval, since people could not see it whole: the model hears that", async () => {
  const { made, tools: map } = tools();
  const model = scriptedModel([
    { parts: [...toolCall("p", "shop__pay", { amount: 5, key: "top-secret-value" }), finish("tool-calls")] },
    reply("I can't pay."),
  ]);
  const scrub = scrubber(["top-secret-value"]);
  const { events, outcome } = await runTurn(turnInput(model, { conversation, tools: map, scrub }));
  expect(made).toEqual([]);
  expect(outcome).toMatchObject({ status: "done", text: "I can't pay.", calls: [{ toolCallId: ownId, ok: false }] });
  expect(events).toContainEqual(
    expect.objectContaining({
      type: "tool-result",
      id: ownId,
      result: { error: expect.stringContaining("may not see the secret in its arguments") },
    }),
  );
});
