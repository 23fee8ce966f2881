import { expect, test } from "vitest";
import type { Hook } from "../../src/turn/types.ts";
import { finish, reasoning, reply, type ScriptStep, scriptedModel, text, toolCall } from "../scripted-model.ts";
import { answering, runTurn, tool, turnInput } from "./input.ts";

const asks: ScriptStep = { parts: [...toolCall("c", "echo"), finish("tool-calls")] };
const silent: ScriptStep = { parts: [finish("stop")] };
const tools = new Map([["echo", tool("echo", answering("x"))]]);
const limits = turnInput(scriptedModel([])).limits;

/** Which tools each call of the model had. */
const offered = (model: ReturnType<typeof scriptedModel>) =>
  model.calls.map(({ options }) => (options.tools ? options.toolChoice?.type : "hidden"));

async function runSteps(steps: ScriptStep[], maxSteps = 3) {
  const model = scriptedModel(steps);
  const { outcome, events } = await runTurn(turnInput(model, { tools, limits: { ...limits, maxSteps } }));
  const types = events.flatMap((event) => (event.type === "step-start" ? [event.stepType] : []));
  return { model, outcome, types };
}

const stopped = (steps: number) => ({
  status: "failed",
  failure: { code: "provider-failed", message: `The agent stopped after ${steps} steps without an answer` },
});
const nothingSaid = { status: "failed", failure: { code: "provider-failed", message: "The model said nothing" } };

test("a model that asks for tools in its last step is asked once more, and knows of no tools", async () => {
  const { model, outcome, types } = await runSteps([asks, asks, asks, reply("enough")]);
  expect(outcome).toMatchObject({ status: "done", text: "enough" });
  expect(offered(model)).toEqual(["auto", "auto", "none", "hidden"]);
  expect(types).toEqual(["initial", "tool-result", "tool-result", "continue"]);
  // No call without a result is left behind.
  expect(model.calls.at(-1)?.prompt.flatMap(({ role }) => role)).toEqual([
    "system",
    "user",
    "assistant",
    "tool",
    "assistant",
    "tool",
  ]);
});

test.each([
  ["still asks for them", [asks, asks, asks, asks], 3],
  ["says nothing", [asks, asks, asks, silent], 3],
  ["says nothing where it may ask for none", [asks, asks, silent], 3],
  ["has one step", [asks, silent], 1],
])("a turn that then %s has stopped without an answer", async (_what, steps, maxSteps) => {
  const { model, outcome } = await runSteps(steps, maxSteps);
  expect(outcome).toMatchObject(stopped(maxSteps));
  expect(model.calls).toHaveLength(steps.length);
});

test("the text next to a last call is the answer", async () => {
  const said: ScriptStep = { parts: [...text("Half done."), ...toolCall("c", "echo"), finish("tool-calls")] };
  const { outcome } = await runSteps([asks, said], 2);
  expect(outcome).toMatchObject({ status: "done", text: "Half done." });
});

test.each<[string, ScriptStep]>([
  ["nothing", silent],
  ["blanks", { parts: [...text(" \n"), finish("stop")] }],
  ["thoughts alone", { parts: [...reasoning("Hm"), finish("stop")] }],
  ["thoughts that are too long", { parts: [...reasoning("Hm"), finish("length")] }],
])("a model that says %s is asked once more, then it has failed", async (_what, step) => {
  const answered = await runSteps([step, reply("Here.")]);
  expect(answered.outcome).toMatchObject({ status: "done" });
  expect(answered.outcome.text.trim()).toBe("Here.");
  expect(answered.outcome.usage.promptTokens).toBe(2);
  expect(answered.types).toEqual(["initial", "continue"]);
  expect(offered(answered.model)).toEqual(["auto", "auto"]);

  const { model, outcome } = await runSteps([step, step, reply("Too late.")]);
  expect(outcome).toMatchObject(nothingSaid);
  expect(model.calls).toHaveLength(2);
});

test("also in its only step, where it then can't call a tool", async () => {
  expect((await runSteps([silent, silent], 1)).outcome).toMatchObject(nothingSaid);
  const { model, outcome } = await runSteps([silent, asks, reply("Here.")], 1);
  expect(outcome).toMatchObject({ status: "done", text: "Here." });
  expect(offered(model)).toEqual(["none", "none", "hidden"]);
});

test("a turn that calls a tool when asked once more continues as ever", async () => {
  const { outcome } = await runSteps([silent, asks, reply("Here.")], 4);
  expect(outcome).toMatchObject({ status: "done", text: "Here." });
});

test("after calls of tools a reply isn't required", async () => {
  const { model, outcome } = await runSteps([asks, silent]);
  expect(outcome).toMatchObject({ status: "done", text: "" });
  expect(model.calls).toHaveLength(2);
});

test("no hook runs without a reply", async () => {
  const model = scriptedModel([silent, silent]);
  const hook: Hook = {
    id: "h",
    event: "response_generated" as const,
    toolName: "echo",
    args: {},
    mutates: true,
    timeoutMs: 1_000,
    tool: tool("echo", answering("instead")),
  };
  const { outcome } = await runTurn(turnInput(model, { hooks: [hook] }));
  expect(outcome).toMatchObject({ ...nothingSaid, text: "", hooks: [] });
});
