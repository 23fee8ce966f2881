import { expect, test } from "vitest";
import { createModels } from "../../src/adapters/models/index.ts";
import type { ModelCall } from "../../src/core/ports.ts";
import { readStep } from "./read-step.ts";
import { recorded, specs } from "./recorded.ts";

test("leaves out an assistant's blank texts, which Anthropic refuses", async () => {
  const { fetch, requests } = await recorded("anthropic/answer.sse");
  const prompt: ModelCall["prompt"] = [
    { role: "user", content: [{ type: "text", text: "Hi" }] },
    { role: "assistant", content: [{ type: "text", text: " \n" }] },
    { role: "user", content: [{ type: "text", text: "What time is it?" }] },
    {
      role: "assistant",
      content: [
        { type: "text", text: "\n\n" },
        { type: "tool-call", toolCallId: "call_1", toolName: "clock", input: {} },
      ],
    },
    {
      role: "tool",
      content: [
        { type: "tool-result", toolCallId: "call_1", toolName: "clock", output: { type: "text", value: "12" } },
      ],
    },
  ];
  const { error } = await readStep(await createModels({ fetch }).resolve(specs.anthropic), prompt);
  expect(error).toBeUndefined();
  expect(requests[0]?.body.messages).toEqual([
    {
      role: "user",
      content: [{ type: "text", text: "Hi\n\nWhat time is it?" }],
    },
    { role: "assistant", content: [{ type: "tool_use", id: "call_1", name: "clock", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: "12" }] },
  ]);
});

const mark = { type: "ephemeral" };
const question: ModelCall["prompt"][number] = { role: "user", content: [{ type: "text", text: "Hi" }] };
const marked = (content: string, stable: number) =>
  ({ role: "system", content, providerOptions: { engine: { stable } } }) as const;

test.each([
  {
    system: marked("You are Ada.\n\nIt is noon.", 12),
    sent: [
      { type: "text", text: "You are Ada.", cache_control: mark },
      { type: "text", text: "It is noon." },
    ],
  },
  { system: marked("You are Ada.", 12), sent: [{ type: "text", text: "You are Ada.", cache_control: mark }] },
  { system: { role: "system", content: "It is noon." } as const, sent: [{ type: "text", text: "It is noon." }] },
])("marks the beginning of a prompt that stays the same, and nothing else: $sent", async ({ system, sent }) => {
  const { fetch, requests } = await recorded("anthropic/answer.sse");
  const { error } = await readStep(await createModels({ fetch }).resolve(specs.anthropic), [system, question]);
  expect(error).toBeUndefined();
  expect(requests[0]?.body.system).toEqual(sent);
  expect(JSON.stringify(requests[0]?.body).split("cache_control")).toHaveLength(
    sent[0] && "cache_control" in sent[0] ? 2 : 1,
  );
});

test.each(
  Object.keys(specs).filter((name) => name !== "anthropic") as (keyof typeof specs)[],
)("%s gets the prompt as one text without a mark", async (name) => {
  const { fetch, requests } = await recorded(`${name}/answer.sse`);
  const system = marked("You are Ada.\n\nIt is noon.", 12);
  await readStep(await createModels({ fetch }).resolve(specs[name]), [system, question]);
  const body = JSON.stringify(requests[0]?.body);
  expect(body).toContain(JSON.stringify(system.content).slice(1, -1));
  expect(body).not.toMatch(/stable|cache_control|engine/);
});
