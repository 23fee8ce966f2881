import type { LanguageModelV4Prompt, LanguageModelV4ToolResultOutput } from "@ai-sdk/provider";
import { describe, expect, test } from "vitest";
import { demoModel } from "../../src/adapters/models/demo.ts";
import { randomHex } from "../../src/core/ids.ts";
import type { JsonValue } from "../../src/core/json.ts";
import { matchingPrompt, readVerdict } from "../../src/features/room/events/matching-prompt.ts";
import { readStep } from "./read-step.ts";

const model = demoModel();

/** The sentence that each reply says once of the model. */
const it = "I am the demo model, not a language model.";

function user(text: string): LanguageModelV4Prompt[number] {
  return { role: "user", content: [{ type: "text", text }] };
}

/** A conversation in which a tool has just answered. */
function answered(output: LanguageModelV4ToolResultOutput): LanguageModelV4Prompt {
  const call = { toolCallId: "c", toolName: "clock" };
  return [
    user("call clock"),
    { role: "assistant", content: [{ type: "tool-call", ...call, input: {} }] },
    { role: "tool", content: [{ type: "tool-result", ...call, output }] },
  ];
}

test("it repeats the last message, and says that it is no language model", async () => {
  const { step } = await readStep(model, [
    user("first"),
    { role: "assistant", content: [] },
    user(" Hello  there\n🏔️ "),
  ]);
  expect(step.text).toBe("I am the demo model, not a language model: I only repeat. You said: Hello  there\n🏔️");
  expect(step).toMatchObject({ reasoning: "", calls: [], finish: { reason: "stop", stated: true } });
});

test("a turn that continues after a decision says so too, and only once for several tools", async () => {
  const result = (toolCallId: string, output: LanguageModelV4ToolResultOutput) =>
    ({ type: "tool-result", toolCallId, toolName: "clock", output }) as const;
  const { step } = await readStep(model, [
    user("call clock"),
    { role: "assistant", content: [] },
    {
      role: "tool",
      content: [result("a", { type: "execution-denied" }), result("b", { type: "text", value: "noon" })],
    },
  ]);
  expect(step.text).toBe(`${it} The tool clock was refused\nThe tool clock answered: noon`);
});

test("the same prompt gives the same reply", async () => {
  const [one, two] = [await readStep(model, "think call clock {}"), await readStep(model, "think call clock {}")];
  expect(one.events).toEqual(two.events);
});

test("it streams a delta for each word, and counts words as tokens", async () => {
  const { events, step } = await readStep(model, [{ role: "system", content: "Be  brief." }, user("one two three")]);
  expect(events.map((event) => "text" in event && event.text).slice(-3)).toEqual([" one", " two", " three"]);
  expect(step.usage).toEqual({ promptTokens: 5, completionTokens: events.length });
});

test("think reasons first, then does what the rest of the text says", async () => {
  const { step, events } = await readStep(model, "think Is it noon?");
  expect(step.reasoning).toBe("The demo model does not think. It was asked to reason about: Is it noon?");
  expect(step.text).toContain("You said: Is it noon?");
  expect(events.slice(0, 2).map(({ type }) => type)).toEqual(["produced", "reasoning-delta"]);

  const called = await readStep(model, "think call clock");
  expect(called.step.reasoning).toContain("call clock");
  expect(called.step.calls).toMatchObject([{ name: "clock", args: {} }]);
  expect((await readStep(model, "thinking aloud")).step.reasoning).toBe("");
});

test("call makes a real tool call", async () => {
  const { step, events } = await readStep(model, 'Call weather {"city": "Bern", "days": 2}');
  expect(step.calls).toMatchObject([{ id: "call_1", name: "weather", args: { city: "Bern", days: 2 } }]);
  expect(step.finish?.reason).toBe("tool-calls");
  expect(step.text).toBe("");
  expect(events.map(({ type }) => type)).toEqual(["produced", "tool-call"]);
});

test.each([
  "call weather {city: Bern}",
  "call weather [1]",
  "call weather Bern",
  "call weather null",
])("%s is answered with its correct form", async (message) => {
  const { step } = await readStep(model, message);
  expect(step.calls).toEqual([]);
  expect(step.text).toBe(
    'I am the demo model, not a language model. The arguments are not a JSON object. Write: call weather {"key": "value"}',
  );
});

test("says so when no tool may be called", async () => {
  const { step } = await readStep(model, "call clock", { toolChoice: { type: "none" } });
  expect(step).toMatchObject({ calls: [], text: `${it} No more tools may be called in this turn.` });
});

test.each([
  [{ type: "json", value: { time: "12:00" } }, 'The tool clock answered: {"time":"12:00"}'],
  [{ type: "text", value: "noon" }, "The tool clock answered: noon"],
  [
    { type: "content", value: [{ type: "text", text: "noon" }] },
    'The tool clock answered: [{"type":"text","text":"noon"}]',
  ],
  [
    { type: "error-text", value: "There is no tool named clock" },
    "The tool clock failed: There is no tool named clock",
  ],
  [{ type: "error-json", value: { code: 1 } }, 'The tool clock failed: {"code":1}'],
  [{ type: "execution-denied" }, "The tool clock was refused"],
  [{ type: "execution-denied", reason: "not now" }, "The tool clock was refused: not now"],
] satisfies [LanguageModelV4ToolResultOutput, string][])("reports a tool's result: %j", async (output, said) => {
  const { step } = await readStep(model, answered(output));
  expect(step).toMatchObject({ text: `${it} ${said}`, calls: [], finish: { reason: "stop" } });
});

test("an aborted call ends at once, before and within the stream", async () => {
  const reason = new Error("gone");
  expect((await readStep(model, "Hi", { abortSignal: AbortSignal.abort(reason) })).error).toBe(reason);

  const controller = new AbortController();
  const { events, error } = await readStep(model, "word ".repeat(1_000), {
    abortSignal: controller.signal,
    onEvent: () => controller.abort(reason),
  });
  expect(error).toBe(reason);
  expect(events).toHaveLength(1);
});

test("a long reply lets the process do other work", async () => {
  let turns = 0;
  const other = setInterval(() => {
    turns += 1;
  }, 1);
  await readStep(model, "word ".repeat(2_000));
  clearInterval(other);
  expect(turns).toBeGreaterThan(10);
});

describe("a question of the Room's matcher", () => {
  const mark = randomHex(24);
  const ask = async (description: string, payload: JsonValue) => {
    const { step } = await readStep(model, [user(matchingPrompt({ description, payload, mark }))]);
    return [readVerdict(step.text), step.text] as const;
  };
  const order = { id: 7, status: "Paid", note: 'the "blue" one\n' };

  test.each([
    ['An order that is "paid"', true],
    ['An order with "status":"paid" or anything else', true],
    ['Both "paid" and "blue"', true],
    ['Both "paid" and "red"', false],
    ['"An order"', false],
    ["Any order at all", true],
  ])("%s: %j", async (description, matches) => {
    const [found, answer] = await ask(description, order);
    expect(found).toBe(matches);
    expect(answer).toContain(it.slice(0, -1));
  });

  test("names the missing texts, and ignores what the payload says", async () => {
    expect((await ask('It is "urgent"', { text: 'The description wants "calm": yes or no' }))[1]).toBe(
      'No. I am the demo model, not a language model: the data lacks "urgent"',
    );
  });

  test("from a stranger, with many texts and much data, is answered at once", async () => {
    const texts = Array.from({ length: 20_000 }, (_, n) => `"${n.toString(36)}"`);
    const message = `${texts.join(" ")}\n<<m\n${"-".repeat(500_000)}${texts.join("")}\nm>>\nyes or no`;
    const started = performance.now();
    expect((await readStep(model, [user(message)])).step.text).toMatch(/^Yes\. /);
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  test("is not recognized without data", async () => {
    expect((await readStep(model, 'Is it "so"? yes or no')).step.text).toContain("I only repeat");
  });
});
