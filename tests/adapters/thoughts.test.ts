import { describe, expect, test } from "vitest";
import type { StreamingModel } from "../../src/core/ports.ts";
import { callTool, done, event, say, think } from "../fake-provider.ts";
import { answering, ours, said, type Wire } from "./chat-oracle.ts";
import { readStep } from "./read-step.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

type Told = Partial<Record<"type" | "delta" | "toolName", string>> & { providerMetadata?: object };

/** The output of these pieces of a stream, as `thoughts | words`; a call's name is in brackets. */
async function told(pieces: readonly string[], wire: Wire = "openai-compatible"): Promise<string[]> {
  return toldBy(await ours(wire, answering(pieces.map(bytes))));
}

async function toldBy(model: StreamingModel): Promise<string[]> {
  const parts = (await said(model)) as Told[];
  return parts.flatMap(({ type, delta = "", toolName, providerMetadata }) => {
    if (providerMetadata) return ["that was thought"];
    if (type === "reasoning-delta") return [`thought: ${delta}`];
    if (type === "text-delta") return [`said: ${delta}`];
    return type === "tool-call" ? [`called: ${toolName}`] : [];
  });
}

const cases: [text: string, told: string[]][] = [
  ["<think>\nTwo and two.\n</think>\n\nIt is 4.", ["thought: Two and two.\n", "said: It is 4."]],
  ["<think>Hm</think>4", ["thought: Hm", "said: 4"]],
  ["<thinking>Hm, <think>so</think></thinking>\n4", ["thought: Hm, <think>so</think>", "said: 4"]],
  ["<think>1 < 2 </ think> </thinking></thin</think>4", ["thought: 1 < 2 </ think> </thinking></thin", "said: 4"]],
  ["<think>\n\n</think>\n\n4", ["said: 4"]],
  ["<think></think>", []],
  ["<think>Hm</think> \n", ["thought: Hm"]],
  // A block that never ends, as of a reply that is too long.
  ["<think>\nTwo and </thi", ["thought: Two and </thi"]],
  ["<think>", []],
  // Only the first block at the beginning counts.
  ["<think>a</think>b <think>c</think> d", ["thought: a", "said: b <think>c</think> d"]],
  ["<think>a</think><think>b</think>", ["thought: a", "said: <think>b</think>"]],
  ["So: <think>a</think> b", ["said: So: <think>a</think> b"]],
  // These are no tags.
  ["Use `</think>` there.", ["said: Use `</think>` there."]],
  ['It ends with "</think>".', ['said: It ends with "</think>".']],
  ["So: <think>a</think> b</think> c", ["said: So: <think>a</think> b</think> c"]],
  ["<thin", ["said: <thin"]],
  ["<", ["said: <"]],
  [" \n<thinks>a</thinks>", ["said:  \n<thinks>a</thinks>"]],
  ["<Think>a</Think>", ["said: <Think>a</Think>"]],
  ["< think>a< /think>", ["said: < think>a< /think>"]],
  ["<table></table>", ["said: <table></table>"]],
  ["<<think>a</think>", ["said: <<think>a</think>"]],
  [" \n", ["said:  \n"]],
  ["", []],
];

test.each(cases)("separates %j, however it is split", async (text, expected) => {
  for (let first = 0; first <= text.length; first += 1) {
    for (const second of [first, Math.min(text.length, first + 3), text.length]) {
      const deltas = [text.slice(0, first), text.slice(first, second), text.slice(second)];
      expect([deltas, await told([...say(...deltas), ...done()])]).toEqual([deltas, expected]);
    }
  }
  const stream = [...say(...text), ...done()];
  expect(await told(stream)).toEqual(expected);
  expect(await told(stream, "mistral")).toEqual(expected);
});

test("blanks before the thoughts are blanks of the text", async () => {
  expect(await told([...say("\n<think>a</think>b"), ...done()])).toEqual(["said: \n", "thought: a", "said: b"]);
});

test("thoughts stand in Mistral's lists of texts, too", async () => {
  const content = ["<think>a</", "think>", "b"].map((text) => ({ type: "text", text }));
  expect(await told([event({ choices: [{ delta: { content } }] }), ...done()], "mistral")).toEqual([
    "thought: a",
    "said: b",
  ]);
});

test("sends held-back text before a call, before thoughts in a field of their own, and before a failure", async () => {
  const call = callTool("call_1", "clock", "{}");
  const end = done("tool_calls");
  expect(await told([...say("<think>a</th"), ...call, ...end])).toEqual(["thought: a</th", "called: clock"]);
  expect(await told([...say("<think>a"), ...call, ...say("</think>b"), ...end])).toEqual([
    ...["thought: a", "said: b", "called: clock"],
  ]);
  expect(await told([...say("<th"), ...call, ...end])).toEqual(["said: <th", "called: clock"]);
  expect(await told([...say("<th"), ...think("a"), ...say("ink>"), ...done()])).toEqual([
    ...["said: <th", "thought: a", "said: ink>"],
  ]);
  const parts = (await said(
    await ours("openai-compatible", answering([...say("<th"), event({ error: { message: "boom" } })].map(bytes))),
  )) as Told[];
  expect(parts.map(({ type }) => type)).toEqual([
    ...["stream-start", "response-metadata", "text-start", "text-delta", "error", "text-end", "finish"],
  ]);
});

describe("thoughts without an opening tag", () => {
  const bare = "Two < two.\n</think>\n\nIt is 4.";

  /** A model that gives these replies, one after the other. */
  async function replying(...replies: string[]): Promise<StreamingModel> {
    const left = replies.values();
    const next: typeof globalThis.fetch = (...request) => {
      const deltas = [...(left.next().value ?? "")];
      return answering([...say(...deltas), ...done()].map(bytes))(...request);
    };
    return ours("openai-compatible", next);
  }

  test("were sent as text already, and are none", async () => {
    for (let first = 0; first <= bare.length; first += 1) {
      const deltas = [bare.slice(0, first), bare.slice(first)];
      expect([deltas, await told([...say(...deltas), ...done()])]).toEqual([
        deltas,
        ["said: Two < two.\n", "that was thought", "said: It is 4."],
      ]);
    }
    const { step } = await readStep(await replying(bare), "Hi");
    expect(step).toMatchObject({ text: "It is 4.", reasoning: "Two < two.\n" });
    expect(step.message(() => true)?.content).toEqual([
      { type: "reasoning", text: "Two < two.\n" },
      { type: "text", text: "It is 4." },
    ]);
  });

  test("are expected in the next replies of that model, until one has none", async () => {
    const model = await replying(bare, bare, "<think>a</think>b", "It is 5.", "It is 6.");
    await toldBy(model);
    expect(await toldBy(model)).toEqual(["thought: Two < two.\n", "said: It is 4."]);
    expect(await toldBy(model)).toEqual(["thought: a", "said: b"]);
    expect(await toldBy(model)).toEqual(["thought: It is 5.", "said: It is 5."]);
    expect(await toldBy(model)).toEqual(["said: It is 6."]);
  });

  test("a lone tag means thoughts of no length", async () => {
    expect(await told([...say("</think>4"), ...done()])).toEqual(["said: 4"]);
  });
});
