import { expect, test } from "vitest";
import { callTool, done, refusal, say, startFakeProvider, think } from "../../fake-provider.ts";
import { chatHarness, dataLines, readEvents } from "./chat.ts";

/** Divided as a server may divide them. */
const words = say("<thi", "nk>\n", "Two and ", "two</thi", "nk>\n\n", "It is ", "4.");

test("a model's thoughts within its text are reasoning, and part of no reply", async () => {
  const provider = await startFakeProvider({ stream: [words, done()] });
  const environmentKeys = { openai_compatible_base_url: provider.url };
  const h = await chatHarness(undefined, { provider: "openai-compatible", model: "m" }, { environmentKeys });

  const whole = await (await h.complete("2 + 2?", { chat_id: "a" })).json();
  expect(whole.choices[0].message.content).toBe("It is 4.");
  const streamed = dataLines(await (await h.complete("2 + 2?", { stream: true })).text());
  expect(streamed.slice(0, -1).map((line) => JSON.parse(line).choices[0].delta.content ?? "")).toEqual([
    ...["", "It is ", "4.", ""],
  ]);
  const told = await readEvents(await h.native("And now?", { chat_id: "a" }));
  expect(told.flatMap(({ event, data }) => (data.text === undefined ? [] : [[event, data.text]]))).toEqual([
    ["reasoning-delta", "Two and "],
    ["reasoning-delta", "two"],
    ["text-delta", "It is "],
    ["text-delta", "4."],
  ]);

  const { messages } = await h.stored();
  const [first] = messages.filter(({ role }) => role === "assistant");
  expect(first).toMatchObject({
    content: "It is 4.",
    reasoning: "Two and two",
    steps: [{ text: "It is 4.", reasoning: "Two and two" }],
  });
  expect(JSON.stringify(provider.exchanges.at(-1)?.body.messages)).toContain("It is 4.");
  expect(JSON.stringify(provider.exchanges.at(-1)?.body.messages)).not.toMatch(/think|Two and/);
});

test("a model that thought before it called a tool gets its thoughts back with the result", async () => {
  const calls = callTool("call_1", "currentTime", "{}");
  const provider = await startFakeProvider(
    { stream: [say("<think>The time?</think>"), calls, done("tool_calls")] },
    { stream: [words, done()] },
  );
  const environmentKeys = { openai_compatible_base_url: provider.url };
  const h = await chatHarness(undefined, { provider: "openai-compatible", model: "m" }, { environmentKeys });
  await h.complete("What time is it?");
  expect(provider.exchanges[1]?.body.messages).toMatchObject([
    { role: "system" },
    { role: "user" },
    { role: "assistant", content: null, reasoning_content: "The time?", tool_calls: [{ id: "call_1" }] },
    { role: "tool", tool_call_id: "call_1" },
  ]);
});

test("a conversation continues where a model wants the thoughts of earlier turns, which are not kept for it", async () => {
  const missing = refusal(400, "The `reasoning_content` in the thinking mode must be passed back to the API.");
  const provider = await startFakeProvider(
    { stream: [think("The time?"), callTool("call_1", "currentTime", "{}"), done("tool_calls")] },
    { stream: [say("Noon."), done()] },
    missing,
    { stream: [say("Still noon."), done()] },
  );
  const environmentKeys = { openai_compatible_base_url: provider.url };
  const h = await chatHarness(undefined, { provider: "openai-compatible", model: "m" }, { environmentKeys });
  for (const [question, answer] of [
    ["What time is it?", "Noon."],
    ["And now?", "Still noon."],
  ]) {
    const { choices } = await (await h.complete(question, { chat_id: "a" })).json();
    expect(choices[0].message.content).toBe(answer);
  }
  expect(provider.exchanges).toHaveLength(4);
});
