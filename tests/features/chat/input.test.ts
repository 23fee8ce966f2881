import { describe, expect, test } from "vitest";
import { freshLimit } from "../../../src/features/chat/request/input.ts";
import { reply, scriptedModel } from "../../scripted-model.ts";
import { chatHarness, readEvents } from "./chat.ts";

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

describe("Open WebUI's chores", () => {
  const title = "### Task:\nGenerate a concise, 3-5 word title summarizing the chat history.";
  const headers = { headers: { "X-OpenWebUI-Chat-Id": "owui" } };

  test("are answered, and are no part of the conversation under whose id they come", async () => {
    const model = scriptedModel(({ prompt }) =>
      reply(JSON.stringify(prompt).includes("### Task:") ? "A title" : "Hello"),
    );
    const h = await chatHarness(model);
    await h.complete("How do I descale a kettle?", {}, headers);
    for (const stream of [false, true]) {
      const answer = await h.complete(title, { stream }, headers);
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("stop")]);
    }
    expect((await readEvents(await h.native(title, {}, headers))).at(-1)).toMatchObject({ event: "done" });
    await h.complete("And a pot?", {}, headers);

    const { messages } = await h.stored();
    expect(messages.map(({ content }) => content)).toEqual([
      ...["How do I descale a kettle?", "Hello", "And a pot?", "Hello"],
    ]);
    expect(model.calls).toHaveLength(5);
    // The chore itself knows nothing of the conversation.
    expect(JSON.stringify(model.calls[1]?.prompt)).not.toContain("kettle");
  });

  test.each([
    ["begins otherwise", "Look: ### Task:", {}, headers],
    [
      "asks about documents",
      "### Task:\nRespond to the user query using the provided context, with\u2026",
      {},
      headers,
    ],
    ["has its id in the body", title, { chat_id: "own" }, headers],
    ["has another client's header", title, {}, { headers: { "X-Chat-Id": "own", ...headers.headers } }],
  ])("a message that %s is none", async (_what, content, body, sent) => {
    const h = await chatHarness(scriptedModel(() => reply("Hello")));
    await h.complete(content, body, sent);
    expect((await h.stored()).messages.map((message) => message.content)).toEqual([content, "Hello"]);
  });
});

describe("earlier messages that a client repeats are not judged", () => {
  const picture = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
  const words = (text: string) => ({ type: "text", text });
  const answer = (content: unknown) => ({ role: "assistant", content });
  const before = [
    user([words("Look: "), picture]),
    answer("A cat."),
    user([picture]),
    answer([{ type: "refusal", refusal: "No" }]),
    user("bad\ud800\u0000"),
    answer("Yes."),
  ];

  test.each([undefined, "c"])("with the chat_id %s", async (chat_id) => {
    const model = scriptedModel(() => reply("ok"));
    const h = await chatHarness(model);
    for (const response of [
      await h.complete("", { chat_id, messages: [...before, user("And now?")] }),
      await h.native("", { chat_id, messages: [...before, user("And now?")] }),
    ]) {
      expect(response.status).toBe(200);
      expect(await response.text()).toContain("ok");
    }
    const seen = model.calls[0]?.prompt.slice(1).map(({ content }) => content);
    const texts = ["Look: ", "A cat.", "bad\ufffd", "Yes.", "And now?"];
    expect(seen).toEqual((chat_id === undefined ? texts : texts.slice(-1)).map((text) => [{ type: "text", text }]));
  });

  test.each([
    ["a picture", [picture], "Only text content is supported"],
    ["NUL", "a\u0000", "messages.7.content: must not contain NUL or unpaired surrogates"],
  ])("%s in the new ones is refused", async (_what, content, message) => {
    const h = await chatHarness(scriptedModel(() => reply("ok")));
    const messages = [...before, user("So?"), user(content)];
    expect(await (await h.complete("", { messages })).json()).toMatchObject({ statusCode: 400, message });
  });
});
