import { expect, test } from "vitest";
import { finish, reasoning, reply, type ScriptStep, scriptedModel, toolCall } from "../../scripted-model.ts";
import { chatHarness, dataLines, readEvents } from "./chat.ts";

const silent: ScriptStep = { parts: [finish("stop")] };
const asks: ScriptStep = { parts: [...toolCall("c", "currentTime"), finish("tool-calls")] };
const said = "The model said nothing";

test("a model that says nothing is a 502, streamed or not, and an error and done natively", async () => {
  const model = scriptedModel(() => silent);
  const h = await chatHarness(model);
  for (const stream of [false, true]) {
    const response = await h.complete("Hi", { stream, chat_id: "a" });
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ statusCode: 502, message: said });
  }
  const events = await readEvents(await h.native("Hi", { chat_id: "a" }));
  expect(events.slice(-2)).toMatchObject([{ event: "error", data: { message: said } }, { event: "done" }]);
  // Each was called twice; there was no output, and nothing is stored.
  expect(model.calls).toHaveLength(6);
  expect((await h.stored()).messages).toEqual([]);
});

test("thoughts that were told before make it an error line of the stream", async () => {
  const h = await chatHarness(scriptedModel(() => ({ parts: [...reasoning("Hm"), finish("stop")] })));
  const lines = dataLines(await (await h.complete("Hi", { stream: true })).text());
  expect(JSON.parse(lines.at(-2) ?? "")).toMatchObject({ error: { message: said } });
  expect(lines.join()).not.toContain('"stop"');
});

test("an agent that calls tools without an end has failed, with what it called", async () => {
  const h = await chatHarness(
    scriptedModel(() => asks),
    { maxSteps: 2, manualTools: ["currentTime"] },
  );
  const message = "The agent stopped after 2 steps without an answer";
  const response = await h.complete("Hi", { chat_id: "a" });
  expect(response.status).toBe(502);
  expect(await response.json()).toMatchObject({ message });
  const { messages } = await h.stored();
  expect(messages.at(-1)).toMatchObject({ role: "assistant", content: "", metadata: { error: expect.anything() } });
  expect(messages.at(-1)?.steps.length).toBeGreaterThan(1);
});

test("the conversation continues after it", async () => {
  const h = await chatHarness(scriptedModel([asks, asks, asks, reply("Hello.")]), {
    maxSteps: 2,
    manualTools: ["currentTime"],
  });
  await h.complete("Hi", { chat_id: "a" });
  expect(await (await h.complete("Again", { chat_id: "a" })).json()).toMatchObject({
    choices: [{ message: { content: "Hello." } }],
  });
});
