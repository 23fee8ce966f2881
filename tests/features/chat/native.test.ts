import { APICallError } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { editionOf } from "../../../src/core/edition.ts";
import { finish, gate, reasoning, reply, scriptedModel, text, toolCall } from "../../scripted-model.ts";
import { chatHarness, readEvents, readUntil } from "./chat.ts";

test("everything that happens arrives as typed events, in order, numbered", async () => {
  const h = await chatHarness(
    scriptedModel([
      {
        parts: [
          reasoning("Let me ", "think"),
          text("One moment."),
          toolCall("c1", "nope", { a: 1 }),
          finish("tool-calls"),
        ],
      },
      reply("Done."),
    ]),
  );
  const response = await h.native("Hi", { chat_id: "c" });
  expect(response.headers.get("Content-Type")).toContain("text/event-stream");
  expect(response.headers.get("Cache-Control")).toBe("no-cache, no-transform");
  expect(response.headers.get("X-Accel-Buffering")).toBe("no");
  const events = await readEvents(response);
  const messageId = (await h.stored()).messages.at(-1)?.id;

  expect(events.map(({ event, data }) => [event, data])).toEqual([
    ["step-start", { index: 0, stepType: "initial" }],
    ["reasoning-delta", { text: "Let me " }],
    ["reasoning-delta", { text: "think" }],
    ["text-delta", { text: "One moment." }],
    ["tool-call", { id: "c1", name: "nope", args: { a: 1 } }],
    ["tool-result", { id: "c1", result: { error: "There is no tool named nope" } }],
    ["step-finish", { index: 0, finishReason: "tool-calls" }],
    ["step-start", { index: 1, stepType: "tool-result" }],
    ["text-delta", { text: "Done." }],
    ["step-finish", { index: 1, finishReason: "stop" }],
    ["done", { conversationId: `${h.agent.slug}:web:api-c`, messageId }],
  ]);
  expect(events.map(({ id }) => id)).toEqual(events.map((_event, index) => `${messageId}:${index + 1}`));
});

test("in the managed edition the playground's address is an alias, with the agent's key, once the feature is on", async () => {
  const edition = editionOf({ EDITION: "managed", FEATURES: ["administration"] });
  const h = await chatHarness(
    scriptedModel(() => reply("ok")),
    {},
    { edition },
  );
  const { slug } = h.agent;
  const path = `/api/instances/${slug}/playground/chat/stream`;
  const json = { messages: [{ role: "user", content: "Hi" }], chat_id: "c" };
  await readEvents(await h.native("Hi", { chat_id: "c" }));
  const events = await readEvents(await h.post(path, json));
  expect(events.at(-1)).toMatchObject({ event: "done", data: { conversationId: `${slug}:web:api-c` } });
  expect((await h.stored()).conversations).toMatchObject([{ channel: "web", messageCount: 4 }]);

  // A session is no key, and the Web channel decides.
  const { Authorization = "" } = await h.as("owner");
  expect((await h.post(path, json, { headers: { Authorization } })).status).toBe(401);
  await h.request(`/api/instances/${slug}/channels/web`, {
    method: "PUT",
    headers: h.agent.headers,
    json: { enabled: false },
  });
  const off = await Promise.all([h.native("Hi"), h.post(path, json)].map(async (answer) => (await answer).json()));
  expect(off[1]).toEqual({ ...off[0], requestId: off[1].requestId });
});

test("the alias is refused while its feature is off, to callers with the key alone, before the body is read", async () => {
  const h = await chatHarness(undefined, {}, { edition: editionOf({ EDITION: "managed", FEATURES: [] }) });
  const path = `/api/instances/${h.agent.slug}/playground/chat/stream`;
  const refused = await h.post(path, "no messages");
  expect([refused.status, (await refused.json()).message]).toEqual([
    403,
    "This installation's licence lacks the feature: administration",
  ]);
  expect((await h.post(path, {}, { headers: { Authorization: "Bearer wrong" } })).status).toBe(401);
});

test("a body without model passes, stream is ignored, model is the path's", async () => {
  const h = await chatHarness(scriptedModel(() => reply("ok")));
  for (const extra of [{}, { stream: false }, { model: "something-else" }, { model: 42 }]) {
    const events = await readEvents(await h.native("Hi", extra));
    expect(events.at(-1)).toMatchObject({
      event: "done",
      data: { conversationId: expect.stringContaining(`${h.agent.slug}:web:`) },
    });
  }
});

test("the stream opens before the model answers, and is kept alive", async () => {
  const held = gate();
  const h = await chatHarness(scriptedModel([{ opens: held.promise, parts: [text("late"), finish()] }]));
  const response = await h.native("Hi");
  const { text: opening, reader } = await readUntil(response, (sofar) => sofar.includes("step-start"));
  expect(opening.startsWith(": ping\n\n")).toBe(true);
  reader.releaseLock();

  await h.clock.advance(25_000);
  await h.clock.advance(25_000);
  held.open();
  const rest = await readUntil(response, (sofar) => sofar.includes("event: done"));
  expect(rest.text.split(": ping\n\n")).toHaveLength(3);
});

test("a provider that fails is an error and done; before output nothing is stored", async () => {
  const body = "secret words of the provider, with key sk-live-0123456789";
  const fail = new APICallError({
    message: body,
    url: "http://x",
    requestBodyValues: {},
    statusCode: 400,
    responseBody: body,
  });
  const h = await chatHarness(scriptedModel(() => ({ fail })));
  const events = await readEvents(await h.native("Hi", { chat_id: "c" }));

  expect(events.slice(1).map(({ event, data }) => [event, data])).toEqual([
    ["error", { message: "Model provider error" }],
    ["done", { conversationId: `${h.agent.slug}:web:api-c`, messageId: null }],
  ]);
  const { messages, conversations, turns } = await h.stored();
  expect(messages).toEqual([]);
  expect(conversations).toMatchObject([{ messageCount: 0, openTurns: 0 }]);
  expect(turns).toMatchObject([{ status: "failed", errorCode: "provider-failed" }]);
  expect(h.logs.join("\n")).toContain("secret words of the provider");
});

test("a failure after output keeps what was produced, marked", async () => {
  const h = await chatHarness(scriptedModel([{ parts: [text("half"), new Error("gone")] }]));
  const events = await readEvents(await h.native("Hi", { chat_id: "c" }));
  expect(events.map(({ event }) => event)).toEqual(["step-start", "text-delta", "error", "done"]);
  const { messages } = await h.stored();
  expect(messages).toMatchObject([
    { role: "user", content: "Hi" },
    {
      role: "assistant",
      content: "half",
      metadata: { error: { code: "provider-failed", message: "Model provider error" } },
    },
  ]);
  expect(events.at(-1)?.data).toMatchObject({ messageId: messages[1]?.id });
});

test("the provider's words are logged without the agent's secrets", async () => {
  const secret = "sk-live-0123456789abcdef";
  const fail = new APICallError({
    message: `bad key ${secret}`,
    url: "http://x",
    requestBodyValues: {},
    statusCode: 401,
    responseBody: `{"key":"${secret}"}`,
  });
  const h = await chatHarness(scriptedModel(() => ({ fail })));
  const secrets = [{ key: "openai_api_key", value: secret }];
  await h.request(`/api/instances/${h.agent.slug}/secrets`, {
    method: "PUT",
    headers: h.agent.headers,
    json: { secrets },
  });
  const answer = await (await h.native("Hi")).text();
  expect(h.logs.join("\n")).toContain("bad key [secret]");
  expect(h.logs.join("\n") + answer).not.toContain(secret);
});

test("text that PostgreSQL cannot hold does not lose the turn", async () => {
  const h = await chatHarness(
    scriptedModel([
      {
        parts: [
          text("a\u0000b\ud800c"),
          toolCall("c\u0000", "no\u0000pe", { "k\u0000": "v\udfff" }),
          finish("tool-calls"),
        ],
      },
      reply("ok"),
    ]),
  );
  const events = await readEvents(await h.native("Hi", { chat_id: "c" }));
  expect(events.at(-1)?.event).toBe("done");
  expect((await h.stored()).messages[1]?.content).toBe("ab\ufffdcok");
});
