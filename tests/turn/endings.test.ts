import { APICallError } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { TestClock } from "../clock.ts";
import { finish, reply, scriptedModel, text, toolCall } from "../scripted-model.ts";
import { answering, runTurn, tool, turnInput } from "./input.ts";

const never = new Promise<never>(() => {});

function apiError(statusCode: number, responseHeaders: Record<string, string> = {}): APICallError {
  const responseBody = "the provider's own words";
  return new APICallError({
    message: responseBody,
    url: "http://x",
    requestBodyValues: {},
    statusCode,
    responseHeaders,
    responseBody,
  });
}

const droppedSocket = () =>
  Object.assign(new TypeError("terminated"), {
    cause: Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" }),
  });

/** Moves the clock on until the turn is over. */
async function drive<T>(clock: TestClock, turn: Promise<T>, stepMs = 1_000): Promise<T> {
  let over = false;
  void turn.finally(() => {
    over = true;
  });
  for (let moves = 0; !over && moves < 1_000; moves += 1) await clock.advance(stepMs);
  return turn;
}

test.each([
  ["500", () => apiError(500), "provider-failed", [500, 1_000]],
  ["429 that says when", () => apiError(429, { "retry-after": "2" }), "rate-limited", [2_000, 2_000]],
  ["a dropped socket", droppedSocket, "provider-failed", [500, 1_000]],
] as const)("%s before the first output is tried again, and told", async (_what, error, code, waits) => {
  const clock = new TestClock();
  const model = scriptedModel((_call, index) => (index < 2 ? { fail: error() } : reply("third time")));
  const { outcome, events } = await drive(clock, runTurn(turnInput(model), { clock }));

  expect(outcome).toMatchObject({ status: "done", text: "third time" });
  expect(events.filter(({ type }) => type === "step-start")).toHaveLength(1);
  const told = waits.map((waitMs, at) => ({ index: 0, attempt: at + 1, failure: { code }, waitMs }));
  expect(events.filter(({ type }) => type === "model-retry")).toMatchObject(told);
});

test("a stream that breaks before its first output is retried, its remains forgotten", async () => {
  const clock = new TestClock();
  const model = scriptedModel([{ parts: [{ type: "text-start", id: "1" }, droppedSocket()] }, reply("ok")]);
  const { outcome } = await drive(clock, runTurn(turnInput(model), { clock }));
  expect(outcome).toMatchObject({
    status: "done",
    text: "ok",
    messages: [{ content: [{ type: "text", text: "ok" }] }],
  });
});

test.each([
  "reasoning-start",
  "tool-input-start",
] as const)("a stream that breaks after %s alone is, too", async (type) => {
  const clock = new TestClock();
  const begun = type === "tool-input-start" ? ({ type, id: "1", toolName: "look" } as const) : { type, id: "1" };
  const model = scriptedModel([{ parts: [begun, droppedSocket()] }, reply("ok")]);
  const { outcome } = await drive(clock, runTurn(turnInput(model), { clock }));
  expect(outcome).toMatchObject({ status: "done", text: "ok", produced: true });
});

test.each([
  ["400", apiError(400), { code: "provider-failed", message: "Model provider error" }, 1],
  ["401", apiError(401), { code: "provider-failed", message: "Model provider error" }, 1],
  ["503, three times", apiError(503), { code: "provider-failed", message: "Model provider error" }, 3],
  ["429, three times", apiError(429), { code: "rate-limited", message: "Model provider is rate limited" }, 3],
  ["429 with a long wait", apiError(429, { "retry-after": "60" }), { code: "rate-limited", retryAfterSeconds: 60 }, 1],
])("%s fails the turn without the provider's words", async (_what, error, failure, calls) => {
  const clock = new TestClock();
  const model = scriptedModel(() => ({ fail: error }));
  const { outcome } = await drive(clock, runTurn(turnInput(model), { clock }));

  expect(outcome).toMatchObject({ status: "failed", produced: false, failure });
  expect(model.calls).toHaveLength(calls);
  if (outcome.status !== "failed") throw new Error("unreachable");
  expect(outcome.failure.message).not.toContain("own words");
  expect(outcome.failure.cause).toBe(error);
});

const unstated = { ...finish(), finishReason: { unified: "other", raw: undefined } } as ReturnType<typeof finish>;

test.each([
  ["an error part", [{ type: "error" as const, error: { message: "overloaded" } }]],
  ["bad JSON in a chunk", [{ type: "error" as const, error: new SyntaxError("bad") }, ...text(" more"), finish()]],
  ["a dropped socket", [droppedSocket()]],
  ["an end without a finish reason", [unstated]],
  ["a finish reason that says error", [finish("error")]],
])("%s after output fails the turn and keeps what was said; nothing is tried again", async (_what, ending) => {
  const model = scriptedModel([{ parts: [...text("half"), ...ending] }]);
  const { outcome } = await runTurn(turnInput(model));

  expect(outcome).toMatchObject({ status: "failed", produced: true, failure: { code: "provider-failed" } });
  expect(outcome.text.startsWith("half")).toBe(true);
  expect(model.calls).toHaveLength(1);
});

test("a provider that floods is cut off", async () => {
  const flood = text(...Array<string>(20).fill("x".repeat(500_000)));
  const { outcome } = await runTurn(turnInput(scriptedModel([{ parts: [...flood, finish()] }])));
  expect(outcome).toMatchObject({ status: "failed", produced: true, failure: { code: "provider-failed" } });
  expect(outcome.text.length).toBeLessThanOrEqual(4_000_000);
});

const piece = { type: "tool-input-delta" as const, id: "c", delta: "x".repeat(500_000) };
const signed = { openaiCompatible: { thoughtSignature: "x".repeat(500_000) } };

test.each([
  ["pieces of a call", [{ type: "tool-input-start" as const, id: "c", toolName: "look" }, ...Array(20).fill(piece)]],
  ["what it wants back with calls", Array(20).fill({ ...toolCall("c", "look").at(-1), providerMetadata: signed })],
])("a provider that floods with %s is cut off", async (_what, parts) => {
  const { outcome } = await runTurn(turnInput(scriptedModel([{ parts: [...parts, finish("tool-calls")] }])));
  expect(outcome).toMatchObject({ status: "failed", produced: true, failure: { code: "provider-failed" } });
  expect(JSON.stringify(outcome).length).toBeLessThan(5_000_000);
});

test("a stream that just ends is a failure, not an empty reply", async () => {
  const { outcome } = await runTurn(turnInput(scriptedModel(() => ({ parts: [] }))));
  expect(outcome).toMatchObject({ status: "failed", produced: false, failure: { code: "provider-failed" } });
});

test.each([
  ["never answers", { parts: [never], deaf: true }, 60_000],
  ["falls silent", { parts: [...text("one"), never] }, 30_000],
  ["falls silent and ignores the abort", { parts: [...text("one"), never], deaf: true }, 30_000],
])("a provider that %s is cut off", async (_what, step, afterMs) => {
  const clock = new TestClock();
  const startedAt = clock.now();
  const { outcome } = await drive(clock, runTurn(turnInput(scriptedModel([step])), { clock }));

  expect(outcome).toMatchObject({
    status: "failed",
    failure: { code: "provider-timeout", message: "Model provider timed out" },
  });
  expect(clock.now() - startedAt).toBeGreaterThanOrEqual(Math.min(afterMs, 30_000));
  expect(clock.now() - startedAt).toBeLessThan(afterMs + 2_000);
});

test("a model that connects but never opens its stream is cut off", async () => {
  const clock = new TestClock();
  const model = { ...scriptedModel([]), doStream: () => never };
  const { outcome } = await drive(clock, runTurn(turnInput(model), { clock }));
  expect(outcome).toMatchObject({ status: "failed", failure: { code: "provider-timeout" } });
});

test("a stream that opens after the turn was cut off is closed", async () => {
  const clock = new TestClock();
  const opening = Promise.withResolvers<void>();
  const letGo = Promise.withResolvers<void>();
  const model: ReturnType<typeof scriptedModel> = {
    ...scriptedModel([]),
    doStream: async () => {
      await opening.promise;
      return { stream: new ReadableStream({ cancel: () => letGo.resolve() }) };
    },
  };
  const { outcome } = await drive(clock, runTurn(turnInput(model), { clock }));
  expect(outcome).toMatchObject({ status: "failed", failure: { code: "provider-timeout" } });
  opening.resolve();
  await letGo.promise;
});

test("a stream that trickles for ever ends with the turn's own limit", async () => {
  const clock = new TestClock();
  const trickle = function* () {
    for (;;) yield new Promise((resolve) => clock.after(5_000, () => resolve(null)));
  };
  const gates = trickle();
  const model = scriptedModel([]);
  const endless: typeof model = {
    ...model,
    doStream: async () => ({
      stream: new ReadableStream({
        async pull(controller) {
          await gates.next().value;
          controller.enqueue({ type: "text-delta", id: "1", delta: "." });
        },
      }),
    }),
  };
  const startedAt = clock.now();
  const { outcome } = await drive(clock, runTurn(turnInput(endless), { clock }));
  const failure = { code: "provider-timeout", message: "The turn took too long" };
  expect(outcome).toMatchObject({ status: "failed", produced: true, failure });
  expect(clock.now() - startedAt).toBeLessThan(302_000);
});

test.each([
  "disconnect",
  "stop",
  "shutdown",
  "lease-lost",
] as const)("%s aborts the turn and the provider's call", async (reason) => {
  const controller = new AbortController();
  const model = scriptedModel([{ parts: [...text("some"), never], deaf: true }]);
  const { outcome } = await runTurn(turnInput(model), {
    signal: controller.signal,
    onEvent: ({ type }) => type === "text-delta" && controller.abort(reason),
  });
  expect(outcome).toMatchObject({ status: "aborted", reason, produced: true, text: "some" });
  expect(model.calls[0]?.options.abortSignal?.aborted).toBe(true);
});

test("parts that arrive together are passed on one by one, and none once the turn is stopped", async () => {
  const parts = [...text("some"), ...text(" more"), finish()];
  const model = {
    doStream: async () => ({
      stream: new ReadableStream({
        start(controller) {
          controller.enqueue(parts);
          controller.close();
        },
      }),
    }),
  };
  const whole = await runTurn(turnInput(model));
  expect(whole.outcome).toMatchObject({ status: "done", text: "some more" });
  expect(whole.events.map(({ type }) => type)).toEqual(["step-start", "text-delta", "text-delta", "step-finish"]);

  const controller = new AbortController();
  const { outcome } = await runTurn(turnInput(model), {
    signal: controller.signal,
    onEvent: ({ type }) => type === "text-delta" && controller.abort("stop"),
  });
  expect(outcome).toMatchObject({ status: "aborted", reason: "stop", text: "some" });
});

test("an abort before the first call makes none", async () => {
  const model = scriptedModel([reply("never")]);
  const { outcome } = await runTurn(turnInput(model), { signal: AbortSignal.abort("stop") });
  expect(outcome).toMatchObject({ status: "aborted", reason: "stop", produced: false });
  expect(model.calls).toHaveLength(0);
});

test("an abort while a tool ignores its signal ends the turn, and leaves no call without a result", async () => {
  const controller = new AbortController();
  const model = scriptedModel([{ parts: [...text("wait"), ...toolCall("c", "hang", {}), finish("tool-calls")] }]);
  const hang = tool("hang", () => {
    queueMicrotask(() => controller.abort("stop"));
    return never;
  });
  const { outcome } = await runTurn(turnInput(model, { tools: new Map([["hang", hang]]) }), {
    signal: controller.signal,
  });
  expect(outcome).toMatchObject({ status: "aborted", reason: "stop" });
  expect(outcome.messages).toMatchObject([
    { role: "assistant", content: [{ text: "wait" }, { type: "tool-call", toolCallId: "c" }] },
    { role: "tool", content: [{ toolCallId: "c", output: { type: "error-text", value: "The turn was stopped" } }] },
  ]);
});

test("a tool that hangs is aborted, and the turn continues", async () => {
  const clock = new TestClock();
  const seen: AbortSignal[] = [];
  const hang = tool("hang", (_args, { signal }) => {
    seen.push(signal);
    return never;
  });
  const model = scriptedModel([{ parts: [...toolCall("c", "hang", {}), finish("tool-calls")] }, reply("well")]);
  const { outcome, events } = await drive(
    clock,
    runTurn(turnInput(model, { tools: new Map([["hang", hang]]) }), { clock }),
  );
  expect(outcome).toMatchObject({ status: "done", text: "well" });
  expect(events).toContainEqual(
    expect.objectContaining({
      type: "tool-result",
      id: "c",
      result: { error: "The tool did not answer within 60 s" },
    }),
  );
  expect(seen[0]?.aborted).toBe(true);
});

test("events a tool emits after it was cut off reach no reader", async () => {
  const clock = new TestClock();
  const late = { type: "handoff", phase: "start", id: "c", agent: "other", conversationId: "ref" } as const;
  let emitLate = () => {};
  const hang = tool("hang", (_args, { emit }) => {
    emitLate = () => emit(late);
    return never;
  });
  const model = scriptedModel([{ parts: [...toolCall("c", "hang", {}), finish("tool-calls")] }, reply("well")]);
  const { events } = await drive(clock, runTurn(turnInput(model, { tools: new Map([["hang", hang]]) }), { clock }));
  emitLate();
  expect(events).toContainEqual(expect.objectContaining({ type: "tool-result", id: "c", ok: false }));
  expect(events).not.toContainEqual(late);
});

test("token counts too large for the database are clamped", async () => {
  const model = scriptedModel([{ parts: [...text("x"), finish("stop", { input: 1e15, output: -3 })] }]);
  const { outcome } = await runTurn(turnInput(model));
  expect(outcome.usage).toEqual({ promptTokens: 1_000_000_000, completionTokens: 0 });
});

test("a tool that returns nothing gives null", async () => {
  const model = scriptedModel([{ parts: [...toolCall("c", "quiet", {}), finish("tool-calls")] }, reply("ok")]);
  const quiet = tool("quiet", answering(undefined as never));
  const { events } = await runTurn(turnInput(model, { tools: new Map([["quiet", quiet]]) }));
  expect(events).toContainEqual(expect.objectContaining({ type: "tool-result", id: "c", result: null }));
});

test("the sum of the steps fits the database too", async () => {
  const huge = finish("tool-calls", { input: 1e9, output: 1e9 });
  const script = [1, 2, 3].map((n) => ({ parts: [...toolCall(`c${n}`, "echo", {}), huge] }));
  const model = scriptedModel([...script, reply("ok")]);
  const tools = new Map([["echo", tool("echo", answering("x"))]]);
  const { outcome } = await runTurn(turnInput(model, { tools }));
  expect(outcome).toMatchObject({ status: "done", usage: { promptTokens: 1e9, completionTokens: 1e9 } });
});

test("arguments nested beyond all sense are refused, and stay out of the transcript", async () => {
  const deep = "[".repeat(20_000) + "]".repeat(20_000);
  const model = scriptedModel([{ parts: [...toolCall("c", "echo", deep), finish("tool-calls")] }, reply("ok")]);
  const tools = new Map([["echo", tool("echo", answering("x"))]]);
  const { outcome, events } = await runTurn(turnInput(model, { tools }));
  expect(outcome).toMatchObject({ status: "done", text: "ok" });
  expect(events).toContainEqual(
    expect.objectContaining({
      type: "tool-result",
      id: "c",
      result: { error: "The arguments are nested too deeply" },
    }),
  );
  expect(JSON.stringify(outcome).length).toBeLessThan(2_000);
});
