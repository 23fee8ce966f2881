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
