import { APICallError } from "@ai-sdk/provider";
import { describe, expect, test } from "vitest";
import { EgressError } from "../../src/core/egress/target.ts";
import { EngineError, ProviderSetupError } from "../../src/core/errors.ts";
import { createCircuitBreaker } from "../../src/core/limits/circuit-breaker.ts";
import type { NamedModel } from "../../src/core/models/fallbacks.ts";
import type { StreamingModel } from "../../src/core/ports.ts";
import { BlockedReply, NoAnswer, OutOfTime } from "../../src/turn/failure.ts";
import type { TurnModel, TurnModels } from "../../src/turn/models.ts";
import type { Hook, TurnInput } from "../../src/turn/types.ts";
import { TestClock } from "../clock.ts";
import { finish, reasoning, reply, type ScriptStep, scriptedModel, text, toolCall } from "../scripted-model.ts";
import { answering, runTurn, tool, turnInput } from "./input.ts";

const never = new Promise<never>(() => {});

function refusal(status: number | null, more: { cause?: unknown; responseHeaders?: Record<string, string> } = {}) {
  const known = status === null ? {} : { statusCode: status };
  return new APICallError({ message: "their words", url: "http://x", requestBodyValues: {}, ...known, ...more });
}

const broken = (code: string) =>
  Object.assign(new TypeError("terminated"), { cause: Object.assign(new Error(), { code }) });

const named = (name: string): NamedModel => ({
  provider: "openai",
  model: `${name}-model`,
  connectionId: `${name}-id`,
  connection: name,
});

const entry = (name: string, model: StreamingModel, more: Partial<TurnModel> = {}): TurnModel => ({
  named: named(name),
  open: async () => model,
  ...more,
});

const models = (first: StreamingModel, second: StreamingModel): TurnModels => [
  entry("first", first),
  entry("second", second),
];

const fellBack = (index: number, failure: object | null = {}) => ({
  type: "model-fallback",
  index,
  from: named("first"),
  to: named("second"),
  failure: failure && expect.objectContaining(failure),
});

const fallbacks = (events: readonly { type: string }[]) => events.filter(({ type }) => type === "model-fallback");

/** Moves the clock on until the turn is over. */
async function drive<T>(clock: TestClock, turn: Promise<T>): Promise<T> {
  let over = false;
  void turn.finally(() => {
    over = true;
  });
  for (let moves = 0; !over && moves < 1_000; moves += 1) await clock.advance(1_000);
  return turn;
}

const begun = [{ type: "tool-input-start", id: "1", toolName: "echo" }] as const;

const ofOneProvider: [string, ScriptStep, string][] = [
  ...[401, 403, 404].map((status): [string, ScriptStep, string] => [
    `a ${status}`,
    { fail: refusal(status) },
    "provider-failed",
  ]),
  ["a 408", { fail: refusal(408) }, "provider-timeout"],
  ["a 429", { fail: refusal(429, { responseHeaders: { "retry-after": "60" } }) }, "rate-limited"],
  ["a 500", { fail: refusal(500) }, "provider-failed"],
  ["a 529", { fail: refusal(529) }, "provider-failed"],
  ["an unreachable address", { fail: refusal(null, { cause: new Error("no route") }) }, "provider-failed"],
  ["an address that the guard refuses", { fail: refusal(null, { cause: new EgressError("no") }) }, "provider-failed"],
  ["a refused connection", { fail: broken("ECONNREFUSED") }, "provider-failed"],
  ["a time-out of the connection", { fail: broken("UND_ERR_CONNECT_TIMEOUT") }, "provider-timeout"],
  ["a missing key", { fail: new ProviderSetupError("The provider openai has no key") }, "provider-failed"],
  [
    "a connection that drops",
    { parts: [{ type: "text-start", id: "1" }, broken("UND_ERR_SOCKET")] },
    "provider-failed",
  ],
  ["an overloaded stream", { parts: [{ type: "error", error: { type: "overloaded_error" } }] }, "provider-failed"],
  [
    "a stream that refuses the key",
    { parts: [{ type: "error", error: { code: "invalid_api_key" } }] },
    "provider-failed",
  ],
  ["a tool call of which only the name came", { parts: [...begun, broken("UND_ERR_SOCKET")] }, "provider-failed"],
];

const ofTheRequest: [string, ScriptStep][] = [
  ...[400, 402, 409, 413, 422].map((status): [string, ScriptStep] => [`a ${status}`, { fail: refusal(status) }]),
  ["an unknown error", { fail: new Error("nobody knows") }],
  ["an error of the engine", { fail: new EngineError("unavailable", "The database is unreachable") }],
  ["a reply that is filtered away", { parts: [finish("content-filter")] }],
  ["a stream without an end", { parts: [{ type: "text-start", id: "1" }] }],
  ["a text", { parts: [...text("half"), broken("UND_ERR_SOCKET")] }],
  ["a thought", { parts: [...reasoning("hm"), broken("UND_ERR_SOCKET")] }],
  ["a tool call", { parts: [...toolCall("c", "echo"), broken("UND_ERR_SOCKET")] }],
];

/** A mutating hook, so that the reply is held back. */
const holding: Hook = {
  id: "hook",
  event: "response_generated",
  toolName: "seen",
  tool: tool("seen", answering(null)),
  args: {},
  mutates: true,
  timeoutMs: 1_000,
};

/** Two models, of which the first fails in the step `at`; each step before calls the tool `echo`. */
function stepped(at: number, failing: ScriptStep) {
  let echoes = 0;
  const asking = (n: number): ScriptStep => ({ parts: [...toolCall(`c${n}`, "echo", {}), finish("tool-calls")] });
  const first = scriptedModel((_call, index) => (index < at ? asking(index) : failing));
  const second = scriptedModel(() => reply("from the second"));
  const echo = tool("echo", async () => {
    echoes += 1;
    return "echoed";
  });
  return { first, second, tools: new Map([["echo", echo]]), echoes: () => echoes };
}

describe("a model that fails before any output", () => {
  describe.each([
    [0, []],
    [1, []],
    [3, [holding]],
  ])("in step %i", (at, hooks) => {
    test.each(ofOneProvider)("by %s is replaced by the next one", async (_what, failing, code) => {
      const { first, second, tools, echoes } = stepped(at, failing);
      const clock = new TestClock();
      const input = turnInput(models(first, second), { tools, hooks });
      const { outcome, events } = await runTurn(input, { clock });

      expect(outcome).toMatchObject({ status: "done", text: "from the second" });
      expect(outcome.answered.map(({ step, model }) => [step, model.connection])).toEqual([
        ...Array.from({ length: at }, (_, step) => [step, "first"]),
        [at, "second"],
      ]);
      expect(fallbacks(events)).toEqual([fellBack(at, { code })]);
      expect(events.filter(({ type }) => type === "step-start")).toHaveLength(at + 1);
      expect([first.calls.length, second.calls.length, echoes()]).toEqual([at + 1, 1, at]);
      expect(outcome.hooks).toHaveLength(hooks.length);
      // No wait: the first one's `Retry-After` is not for the second.
      expect(clock.now()).toBe(new TestClock().now());
    });

    test.each(ofTheRequest)("is not replaced after %s", async (_what, failing) => {
      const { first, second, tools, echoes } = stepped(at, failing);
      const { outcome, events } = await runTurn(turnInput(models(first, second), { tools, hooks }));

      expect(outcome.status).toBe("failed");
      expect(fallbacks(events)).toEqual([]);
      expect([first.calls.length, second.calls.length, echoes()]).toEqual([at + 1, 0, at]);
    });
  });

  test.each([new NoAnswer("x"), new BlockedReply("x")])("is not replaced after %o", async (fail) => {
    const second = scriptedModel([]);
    await runTurn(turnInput(models(scriptedModel([{ fail }]), second)));
    expect(second.calls).toHaveLength(0);
  });

  test("is replaced when it can't be opened", async () => {
    const broken = entry("first", scriptedModel([]), { open: () => Promise.reject(new ProviderSetupError("no key")) });
    const { outcome } = await runTurn(turnInput([broken, entry("second", scriptedModel([reply("ok")]))]));
    expect(outcome).toMatchObject({ status: "done", text: "ok" });
  });

  test("is replaced in each step again", async () => {
    const first = scriptedModel(() => ({ fail: refusal(503) }));
    const second = scriptedModel([{ parts: [...toolCall("c", "echo"), finish("tool-calls")] }, reply("ok")]);
    const tools = new Map([["echo", tool("echo", answering("x"))]]);
    const { events } = await runTurn(turnInput(models(first, second), { tools }));
    expect(fallbacks(events)).toEqual([fellBack(0), fellBack(1)]);
  });
});

test("when all fail, the last one's failure is the turn's, after its own retries", async () => {
  const clock = new TestClock();
  const first = scriptedModel(() => ({ fail: refusal(500) }));
  const last = scriptedModel(() => ({ fail: refusal(429, { responseHeaders: { "retry-after": "2" } }) }));
  const { outcome, events } = await drive(clock, runTurn(turnInput(models(first, last)), { clock }));

  expect(outcome).toMatchObject({ status: "failed", produced: false });
  expect(outcome).toMatchObject({ failure: { code: "rate-limited", retryAfterSeconds: 2 } });
  expect([first.calls.length, last.calls.length]).toEqual([1, 3]);
  const waits = events.flatMap((event) => (event.type === "model-retry" ? [event.waitMs] : []));
  expect(waits).toEqual([2_000, 2_000]);
});

test("a turn that is stopped between two models calls no other", async () => {
  const controller = new AbortController();
  const second = scriptedModel([reply("never")]);
  const { outcome } = await runTurn(turnInput(models(scriptedModel([{ fail: refusal(503) }]), second)), {
    signal: controller.signal,
    onEvent: ({ type }) => type === "model-fallback" && controller.abort("stop"),
  });
  expect(outcome).toMatchObject({ status: "aborted", reason: "stop", produced: false });
  expect(second.calls).toHaveLength(0);
});

test("the call of a model that failed is closed before the next one is called", async () => {
  const first = scriptedModel([{ parts: [{ type: "error", error: { status: 503 } }, never] }]);
  const second = scriptedModel(() => {
    expect(first.calls[0]).toMatchObject({ cancelled: true });
    return reply("ok");
  });
  const { outcome } = await runTurn(turnInput(models(first, second)));
  expect(outcome.status).toBe("done");
});

describe("a silent model", () => {
  const silent = () => scriptedModel([{ parts: [never], deaf: true }]);
  const limits = { maxSteps: 4, connectMs: 150_000, silenceMs: 150_000, turnMs: 300_000, toolMs: 60_000 };

  test("with others behind it gets an equal share of the turn's time, and the turn's limit holds", async () => {
    const clock = new TestClock();
    const startedAt = clock.now();
    const all = ["a", "b", "c", "d"].map((name) => entry(name, silent()));
    const [first, ...others] = all as [TurnModel, ...TurnModel[]];
    const moments: number[] = [];
    const onEvent = ({ type }: { type: string }) => {
      if (type === "model-fallback") moments.push(clock.now() - startedAt);
    };
    const { outcome, events } = await drive(
      clock,
      runTurn(turnInput([first, ...others], { limits }), { clock, onEvent }),
    );

    expect(outcome).toMatchObject({ status: "failed", failure: { code: "provider-timeout" } });
    expect(moments.map((ms) => Math.floor(ms / 5_000) * 5)).toEqual([75, 150, 225]);
    const failure = { code: "provider-timeout", message: "Model provider timed out", cause: expect.any(OutOfTime) };
    expect(fallbacks(events)[0]).toMatchObject({ failure });
    expect(clock.now() - startedAt).toBeLessThanOrEqual(301_000);
  });

  test("is replaced by one that answers", async () => {
    const clock = new TestClock();
    const input = turnInput(models(silent(), scriptedModel([reply("ok")])), { limits });
    const { outcome } = await drive(clock, runTurn(input, { clock }));
    expect(outcome).toMatchObject({ status: "done", text: "ok", firstOutputMs: 151_000 });
  });
});

describe("the transcript for another model", () => {
  const signed = { anthropic: { signature: "of the first" } };
  const thinking = [
    { type: "reasoning-start", id: "r" },
    { type: "reasoning-delta", id: "r", delta: "I look." },
    { type: "reasoning-end", id: "r", providerMetadata: signed },
  ] as const;
  const looking = [
    ...thinking,
    { ...toolCall("c", "echo")[3], providerMetadata: signed },
    finish("tool-calls"),
  ] as const;
  const tools = new Map([["echo", tool("echo", answering("x"))]]);
  const settings = { thinking: true };
  const run = (first: StreamingModel, second: StreamingModel, more: Partial<TurnInput> = {}) =>
    runTurn(turnInput(models(first, second), { tools, settings, ...more }));

  test("is without reasoning and signatures, and that model is not asked to reason", async () => {
    const first = scriptedModel([{ parts: looking as never }, { fail: refusal(503) }]);
    const second = scriptedModel([reply("ok")]);
    const { outcome } = await run(first, second);

    expect(JSON.stringify(first.calls[1]?.prompt)).toContain("of the first");
    expect(second.calls[0]?.prompt.slice(-2)).toMatchObject([
      { role: "assistant", content: [{ type: "tool-call", toolCallId: "c", input: {} }] },
      { role: "tool", content: [{ toolCallId: "c" }] },
    ]);
    expect(JSON.stringify(second.calls[0]?.prompt)).not.toMatch(/I look|of the first/);
    expect([first.calls[1], second.calls[0]].map((call) => call?.options.reasoning)).toEqual(["medium", undefined]);
    // The stored transcript keeps the provider's own message.
    expect(JSON.stringify(outcome.messages)).toContain("of the first");
  });

  test("keeps the reasoning of the model that is asked, and of none but the last one over an approval", async () => {
    const paying = { ...toolCall("p", "pay")[3], providerMetadata: { anthropic: { signature: "of the second" } } };
    const pay = { ...tool("pay", answering("paid")), needsApproval: true };
    const conversation = { id: "c", ref: "assistant:web:api-c", ticket: 1 };
    const more = { conversation, tools: new Map([...tools, ["pay", pay] as const]) };
    const first = scriptedModel([{ parts: looking as never }, { fail: refusal(503) }]);
    const { outcome } = await run(first, scriptedModel([{ parts: [paying as never, finish("tool-calls")] }]), more);
    if (outcome.status !== "approval") throw new Error(`The turn ended as ${outcome.status}`);
    expect(JSON.stringify(outcome.suspended)).not.toContain("of the first");
    const decided = outcome.pending.map((call) => ({ ...call, approved: true, reason: null }));
    const continued = { messages: outcome.suspended, decided, answeredBy: named("second") };

    const again = scriptedModel([{ fail: refusal(503) }]);
    const other = scriptedModel([reply("ok")]);
    await run(again, other, { ...more, continued });
    expect(JSON.stringify(again.calls[0]?.prompt)).not.toContain("of the second");
    expect(JSON.stringify(other.calls[0]?.prompt)).toContain("of the second");
    expect(other.calls[0]?.options.reasoning).toBe("medium");
  });
});

describe("a connection that fails three times in a row", () => {
  function resting() {
    const clock = new TestClock();
    const breaker = createCircuitBreaker(clock, { failures: 3, restMs: () => 30_000 });
    const state = { failing: true };
    const first = scriptedModel(() => (state.failing ? { fail: refusal(503) } : reply("first")));
    const second = scriptedModel(() => reply("second"));
    const both: TurnModels = [entry("first", first, { breaker }), entry("second", second, { breaker })];
    const ask = () => runTurn(turnInput(both), { clock });
    return { clock, breaker, state, first, second, both, ask };
  }

  test("rests for 30 seconds; then it gets one call, and answers again", async () => {
    const { clock, state, first, ask } = resting();
    for (let n = 0; n < 3; n += 1) await ask();
    const { outcome, events } = await ask();
    expect(outcome).toMatchObject({ status: "done", text: "second", answered: [{ model: named("second") }] });
    expect(fallbacks(events)).toEqual([fellBack(0, null)]);
    expect(first.calls).toHaveLength(3);

    await clock.advance(30_000);
    const probes = await Promise.all([ask(), ask()]);
    expect(probes.map(({ events }) => fallbacks(events))).toEqual([[fellBack(0)], [fellBack(0, null)]]);
    expect(first.calls).toHaveLength(4);

    await clock.advance(30_000);
    state.failing = false;
    expect((await ask()).outcome.text).toBe("first");
    expect((await ask()).outcome.text).toBe("first");
  });

  test("does not rest when an answer came between, or when the request was refused", async () => {
    const { breaker, state, first, ask } = resting();
    for (const failing of [true, true, false, true, true]) {
      state.failing = failing;
      await ask();
    }
    expect(breaker.isResting("first-id")).toBe(false);
    const refusing = entry(
      "first",
      scriptedModel(() => ({ fail: refusal(400) })),
      { breaker },
    );
    for (let n = 0; n < 3; n += 1) await runTurn(turnInput([refusing, entry("second", first)]));
    expect(breaker.isResting("first-id")).toBe(false);
  });

  test("is called like any other while all rest", async () => {
    const { breaker, state, ask } = resting();
    for (const id of ["first-id", "second-id"]) for (let n = 0; n < 3; n += 1) breaker.note(id, false);
    state.failing = false;
    const { outcome, events } = await ask();
    expect(outcome.text).toBe("first");
    expect(fallbacks(events)).toEqual([]);
  });

  test("is called by an agent that has no other", async () => {
    const { state, both, clock, breaker } = resting();
    for (let n = 0; n < 3; n += 1) breaker.note("first-id", false);
    state.failing = false;
    expect((await runTurn(turnInput([both[0]]), { clock })).outcome.text).toBe("first");
    expect(breaker.isResting("first-id")).toBe(false);
  });
});
