import { expect, test } from "vitest";
import { freshLimit } from "../../../src/features/chat/doors/input.ts";
import { reply, scriptedModel } from "../../scripted-model.ts";
import { chatHarness } from "./chat.ts";

const message = `Message too long: at most ${freshLimit} bytes`;
const user = (content: unknown) => ({ role: "user", content });
const half = "é".repeat(freshLimit / 4);

const tooLong: [string, unknown[]][] = [
  ["one message", [user("x".repeat(freshLimit + 1))]],
  ["few characters of many bytes", [user(`${half}${half}x`)]],
  ["messages together", [user(half), user(half), user("x")]],
  ["parts together", [user([half, half, "x"].map((text) => ({ type: "text", text })))]],
];

test.each(tooLong)("%s of more than 256 KiB are a 400, on both doors", async (_what, messages) => {
  const model = scriptedModel(() => reply("ok"));
  const h = await chatHarness(model);
  for (const answer of [
    await h.complete("", { messages }),
    await h.complete("", { messages, chat_id: "c" }),
    await h.native("", { messages }),
  ]) {
    expect(await answer.json()).toMatchObject({ statusCode: 400, message });
  }
  expect(model.calls).toHaveLength(0);
});

test("256 KiB pass, and the history that a request brings along may be longer", async () => {
  const model = scriptedModel(() => reply("ok"));
  const h = await chatHarness(model);
  const before = [user("x".repeat(freshLimit)), { role: "assistant", content: "x".repeat(freshLimit) }];
  expect((await h.complete("", { messages: [...before, user(half), user(half)] })).status).toBe(200);
  expect(JSON.stringify(model.calls[0]?.prompt).length).toBeGreaterThan(2.5 * freshLimit);
});

test("a role that no chat-completions client knows is a 400 that names those it may be", async () => {
  const h = await chatHarness(scriptedModel(() => reply("ok")));
  const message = "messages.0.role: must be one of: user, assistant, system, developer, tool, function";
  const messages = [{ role: "bot", content: "Hello" }, user("Hello")];
  for (const answer of [await h.complete("", { messages }), await h.native("", { messages })]) {
    expect(await answer.json()).toMatchObject({ statusCode: 400, message });
  }
});
