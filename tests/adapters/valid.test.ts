import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { validPrompt } from "../../src/adapters/models/valid.ts";
import { done, say, startFakeProvider } from "../fake-provider.ts";
import { readStep } from "./read-step.ts";
import { modelAt } from "./wires.ts";

type Message = LanguageModelV4Prompt[number];

const text = (words: string) => ({ type: "text" as const, text: words });
const user = (...words: string[]): Message => ({ role: "user", content: words.map(text) });
const reply = (...words: string[]): Message => ({ role: "assistant", content: words.map(text) });
const call = (toolCallId: string, toolName: string): Message => ({
  role: "assistant",
  content: [{ type: "tool-call", toolCallId, toolName, input: {} }],
});
const result = (toolCallId: string, toolName: string, value = "12"): Message => ({
  role: "tool",
  content: [{ type: "tool-result", toolCallId, toolName, output: { type: "text", value } }],
});
const picture = {
  type: "file" as const,
  mediaType: "image/png",
  data: { type: "data" as const, data: Uint8Array.of(1) },
};

test("sends a prompt unchanged that all providers accept", () => {
  const prompt: LanguageModelV4Prompt = [
    { role: "system", content: "Be brief." },
    user("What time is it?"),
    call("call_1", "clock"),
    result("call_1", "clock"),
    reply("It is noon."),
    { role: "user", content: [text("And here?"), picture] },
  ];
  const valid = validPrompt(prompt);
  expect(valid).toHaveLength(prompt.length);
  valid.forEach((message, index) => {
    expect(message).toBe(prompt[index]);
  });
});

test("makes names that a model invented fit a provider's form", () => {
  const names = ["functions.clock", "a b/ü", "x".repeat(200), "", "clock"];
  const prompt = names.flatMap((name, index) => [user("?"), call(`c${index}`, name), result(`c${index}`, name)]);
  const found = validPrompt(prompt).flatMap(({ content }) =>
    typeof content === "string" ? [] : content.flatMap((part) => ("toolName" in part ? [part.toolName] : [])),
  );
  const expected = ["functions_clock", "a_b__", "x".repeat(64), "_", "clock"];
  expect(found).toEqual(expected.flatMap((name) => [name, name]));
});

test("gives each call a unique id, and its result the same one", () => {
  const both: Message = {
    role: "assistant",
    content: ["one", "two"].map((toolName) => ({ type: "tool-call", toolCallId: "call_0", toolName, input: {} })),
  };
  const prompt = [
    user("a"),
    ...[call("call_0", "clock"), result("call_0", "clock")],
    ...[call("call_0", "clock"), result("call_0", "clock")],
    ...[both, result("call_0", "one"), result("call_0", "two")],
    ...[call("call.5", "clock"), result("call.5", "clock")],
    ...[call("y".repeat(256), "clock"), result("y".repeat(256), "clock")],
  ];
  const ids = (role: string) =>
    validPrompt(prompt).flatMap((message) =>
      message.role === role && typeof message.content !== "string"
        ? message.content.flatMap((part) => ("toolCallId" in part ? [part.toolCallId] : []))
        : [],
    );
  expect(ids("assistant")).toEqual(["call_0", "call_1", "call_2", "call_3", "call_4", "call_5"]);
  expect(ids("tool")).toEqual(ids("assistant"));
});

test("user and assistant alternate, and no message is empty", () => {
  const prompt: LanguageModelV4Prompt = [
    user("a"),
    reply("", " \n"),
    user("b"),
    { role: "assistant", content: [{ type: "reasoning", text: "Hm" }] },
    { role: "user", content: [picture] },
    user("c"),
    reply("d"),
    { role: "assistant", content: [] },
    reply("", "e"),
  ];
  expect(validPrompt(prompt)).toEqual([
    { role: "user", content: [text("a\n\nb"), picture, text("c")] },
    { role: "assistant", content: [text("d"), text("\n\ne")] },
  ]);
});

test("a conversation that the assistant began has a user's message before it", () => {
  const begun = user("(Nobody wrote yet. You began the conversation.)");
  expect(validPrompt([reply("How can I help?"), user("b")])).toEqual([begun, reply("How can I help?"), user("b")]);
  const system: Message = { role: "system", content: "Be brief." };
  expect(validPrompt([system, reply(" "), reply("Hi"), user("b")])).toEqual([system, begun, reply("Hi"), user("b")]);
});

test("joins a reply and a call after it into one message, which the results follow", () => {
  expect(validPrompt([user("a"), reply("b"), call("c1", "clock"), result("c1", "clock")])).toEqual([
    user("a"),
    {
      role: "assistant",
      content: [text("b"), { type: "tool-call", toolCallId: "c1", toolName: "clock", input: {} }],
    },
    result("c1", "clock"),
  ]);
});

describe("any prompt", () => {
  const words = fc.constantFrom("", " ", "a", "b");
  const ids = fc.constantFrom("call_0", "call_1", "", "a.b", "z".repeat(60));
  const names = fc.string({ maxLength: 80 });
  const exchange = fc.oneof(
    words.map((word) => [user(word || "?")]),
    words.map((word) => [reply(word)]),
    words.map((thought): Message[] => [{ role: "assistant", content: [{ type: "reasoning", text: thought }] }]),
    fc.tuple(ids, names, fc.integer()).map(([id, name, value]) => [call(id, name), result(id, name, String(value))]),
  );
  const prompts = fc.array(exchange, { maxLength: 12 }).map((list) => list.flat());

  test("becomes one that the strictest provider accepts, and then stays the same", () => {
    fc.assert(
      fc.property(prompts, (prompt) => {
        const valid = validPrompt(prompt);
        const seen = new Set<string>();
        const open = new Map<string, string>();
        expect(["user", undefined]).toContain(valid[0]?.role);
        valid.forEach(({ role, content }, index) => {
          const next = valid[index + 1]?.role;
          if (role === "user") expect(next).not.toBe("user");
          if (role === "assistant") expect(next).not.toBe("assistant");
          if (typeof content === "string") return;
          if (role === "assistant") expect(content.some(({ type }) => type !== "reasoning")).toBe(true);
          for (const part of content) {
            if (part.type === "text" && role === "assistant") expect(part.text.trim()).not.toBe("");
            if (part.type === "tool-call") {
              expect([part.toolName, part.toolCallId].join(" ")).toMatch(/^[\w-]{1,64} [\w-]{1,40}$/);
              expect(seen).not.toContain(part.toolCallId);
              seen.add(part.toolCallId);
              open.set(part.toolCallId, part.toolName);
            }
            if (part.type === "tool-result") {
              expect(open.get(part.toolCallId)).toBe(part.toolName);
              open.delete(part.toolCallId);
            }
          }
        });
        expect(open.size).toBe(0);
        expect(validPrompt(valid)).toEqual(valid);
      }),
    );
  });
});

test.each([
  "openai-compatible",
  "mistral",
  "ollama",
] as const)("sends a valid prompt to %s, whatever is stored", async (name) => {
  const provider = await startFakeProvider({ stream: [say("ok"), done()] });
  const stored = [
    ...[user("a"), reply(""), user("b"), call("call_0", "functions.clock"), result("call_0", "functions.clock")],
    ...[reply("noon"), user("c"), call("call_0", "clock"), result("call_0", "clock"), reply("one"), user("d")],
  ];
  const { error } = await readStep(await modelAt(name, provider.url), stored);
  expect(error).toBeUndefined();
  interface Sent {
    role: string;
    tool_calls?: { id: string; function: { name: string } }[];
    tool_call_id?: string;
  }
  const sent = provider.exchanges[0]?.body.messages as Sent[];
  expect(sent.map(({ role }) => role).join(" ")).toBe(
    "user assistant tool assistant user assistant tool assistant user",
  );
  const calls = sent.flatMap(({ tool_calls = [] }) => tool_calls);
  expect(calls.map((made) => made.function.name)).toEqual(["functions_clock", "clock"]);
  const ids = calls.map(({ id }) => id);
  expect(new Set(ids).size).toBe(2);
  expect(sent.flatMap(({ tool_call_id = [] }) => tool_call_id)).toEqual(ids);
});
