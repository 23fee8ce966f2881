import { expect, test } from "vitest";
import { finish, reasoning, reply, scriptedModel, text, toolCall } from "../../scripted-model.ts";
import { chatHarness, dataLines } from "./chat.ts";

const replies = () => scriptedModel(() => reply("Hello", " there"));

test("a whole reply has the spec's shape", async () => {
  const h = await chatHarness(scriptedModel([{ parts: [text("Hello"), finish("stop", { input: 12, output: 5 })] }]));
  const response = await h.complete("Hi");

  expect(response.status).toBe(200);
  expect(response.headers.get("X-Request-Id")).toBeTruthy();
  expect(await response.json()).toEqual({
    id: expect.stringMatching(/^chatcmpl-[0-9a-f]{24}$/),
    object: "chat.completion",
    created: Math.floor(h.clock.now() / 1000),
    model: h.agent.slug,
    choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 },
  });
});

test("a streamed reply: role first, then content, then stop, then [DONE], and no usage", async () => {
  const h = await chatHarness(replies());
  const response = await h.complete("Hi", { stream: true, stream_options: { include_usage: true } });
  expect(response.headers.get("Content-Type")).toContain("text/event-stream");
  const lines = dataLines(await response.text());

  expect(lines.pop()).toBe("[DONE]");
  const chunks = lines.map((line) => JSON.parse(line));
  expect(chunks.map(({ choices }) => choices[0])).toEqual([
    { index: 0, delta: { role: "assistant", content: "" }, finish_reason: null },
    { index: 0, delta: { content: "Hello" }, finish_reason: null },
    { index: 0, delta: { content: " there" }, finish_reason: null },
    { index: 0, delta: {}, finish_reason: "stop" },
  ]);
  expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  for (const chunk of chunks) {
    expect(chunk).toMatchObject({ object: "chat.completion.chunk", model: h.agent.slug, created: expect.any(Number) });
    expect(chunk).not.toHaveProperty("usage");
  }
});

test("a usage chunk comes when the agent has it on and the request asks", async () => {
  const h = await chatHarness(replies(), { streamUsageEnabled: true });
  const silent = dataLines(await (await h.complete("Hi", { stream: true })).text());
  expect(silent.join()).not.toContain("usage");
  const lines = dataLines(
    await (await h.complete("Hi", { stream: true, stream_options: { include_usage: true } })).text(),
  );
  expect(JSON.parse(lines.at(-2) ?? "")).toMatchObject({
    choices: [],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });
});

test("the reply is the text of all steps, the same bytes streamed or not; tools never show", async () => {
  const script = [
    { parts: [reasoning("hm"), text("One. "), toolCall("c", "nope"), finish("tool-calls")] },
    reply("Two."),
  ];
  const h = await chatHarness(scriptedModel([...script, ...script]));
  const whole = await (await h.complete("Hi")).json();
  const streamed = await (await h.complete("Hi", { stream: true })).text();

  expect(whole.choices[0].message).toEqual({ role: "assistant", content: "One. Two." });
  const pieces = dataLines(streamed)
    .slice(0, -1)
    .map((line) => JSON.parse(line).choices[0].delta.content ?? "");
  expect(pieces.join("")).toBe("One. Two.");
  expect(streamed).not.toMatch(/tool|hm/);
});

test("without chat_id the request's messages are the whole history, and nothing of it is stored", async () => {
  const model = replies();
  const h = await chatHarness(model);
  await h.post("/v1/chat/completions", {
    model: h.agent.slug,
    messages: [
      { role: "system", content: "Be rude" },
      { role: "developer", content: "Be rude" },
      { role: "user", content: "one" },
      { role: "assistant", content: null, tool_calls: [] },
      { role: "assistant", content: "two" },
      { role: "tool", content: "42" },
      {
        role: "user",
        content: [
          { type: "text", text: "th" },
          { type: "text", text: "ree" },
        ],
      },
    ],
  });

  expect(model.calls[0]?.prompt.slice(1)).toEqual([
    { role: "user", content: [{ type: "text", text: "one" }] },
    { role: "assistant", content: [{ type: "text", text: "two" }] },
    { role: "user", content: [{ type: "text", text: "three" }] },
  ]);
  expect(JSON.stringify(model.calls[0]?.prompt)).not.toContain("rude");
  const { conversations, messages, turns } = await h.stored();
  expect([conversations, messages]).toEqual([[], []]);
  expect(turns).toMatchObject([
    { status: "done", door: "completions", conversationId: null, promptTokens: 1, completionTokens: 1 },
  ]);
});

test("with chat_id the engine's transcript is the history, and the new input is what follows the last answer", async () => {
  const model = replies();
  const h = await chatHarness(model);
  await h.complete("one", { chat_id: "c1" });
  await h.post("/v1/chat/completions", {
    model: h.agent.slug,
    chat_id: "c1",
    messages: [
      { role: "user", content: "something made up" },
      { role: "assistant", content: "by the client" },
      { role: "user", content: "two" },
      { role: "user", content: "three" },
    ],
  });

  expect(model.calls[1]?.prompt.slice(1)).toEqual([
    { role: "user", content: [{ type: "text", text: "one" }] },
    { role: "assistant", content: [{ type: "text", text: "Hello there" }] },
    { role: "user", content: [{ type: "text", text: "two" }] },
    { role: "user", content: [{ type: "text", text: "three" }] },
  ]);
  const { conversations, messages } = await h.stored();
  expect(conversations).toMatchObject([
    {
      ref: `${h.agent.slug}:web:api-c1`,
      channel: "web",
      channelId: "api-c1",
      messageCount: 5,
      lastSeq: 5,
      openTurns: 0,
      totalTokens: 4,
    },
  ]);
  expect(messages.map(({ seq, role, content }) => [seq, role, content])).toEqual([
    [1, "user", "one"],
    [2, "assistant", "Hello there"],
    [3, "user", "two"],
    [4, "user", "three"],
    [5, "assistant", "Hello there"],
  ]);
});

test.each([["X-Chat-Id"], ["X-OpenWebUI-Chat-Id"]])("%s stands in for chat_id; the body wins", async (header) => {
  const h = await chatHarness(replies());
  await h.complete("Hi", {}, { headers: { [header]: "from-header" } });
  await h.complete("Hi", { chat_id: "from-body" }, { headers: { [header]: "from-header" } });
  expect((await h.complete("Hi", {}, { headers: { [header]: "x".repeat(129) } })).status).toBe(400);
  const { conversations } = await h.stored();
  expect(conversations.map(({ channelId }) => channelId).sort()).toEqual(["api-from-body", "api-from-header"]);
});

test("the history is limited as the agent says, and begins with the user", async () => {
  const model = replies();
  const h = await chatHarness(model, { historyLimit: 3 });
  for (const word of ["one", "two", "three"]) await h.complete(word, { chat_id: "c" });
  expect(model.calls[2]?.prompt.slice(1).map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
});

test.each([
  ["no messages", { messages: [] }, "messages"],
  ["101 messages", { messages: Array(101).fill({ role: "user", content: "x" }) }, "messages"],
  ["messages of a wrong type", { messages: "hello" }, "messages"],
  ["a message of a wrong type", { messages: [null] }, "messages.0"],
  ["a long chat_id", { chat_id: "x".repeat(129) }, "chat_id"],
  ["a NUL in chat_id", { chat_id: "a\u0000b" }, "chat_id"],
  ["a NUL in a message", { messages: [{ role: "user", content: "a\u0000b" }] }, "messages.0.content"],
  ["half a surrogate in a message", { messages: [{ role: "user", content: "a\ud800" }] }, "messages.0.content"],
  ["a stream that is no boolean", { stream: "yes" }, "stream"],
])("%s is a 400 that names the field", async (_what, extra, path) => {
  const h = await chatHarness(replies());
  const response = await h.complete("Hi", extra);
  const body = await response.json();
  expect(body).toMatchObject({ statusCode: 400, error: "Bad Request", message: expect.stringContaining(path) });
  expect(body.issues[0].path).toBe(path);
});

test.each([
  ["an image", [{ type: "image_url", image_url: { url: "data:" } }], "Only text content is supported"],
  ["nothing", "", "No user message"],
  ["blanks", " \n", "No user message"],
  ["no parts", [], "No user message"],
])("%s as content is a 400", async (_what, content, message) => {
  const h = await chatHarness(replies());
  expect(await (await h.complete(content)).json()).toMatchObject({ statusCode: 400, message });
});

test("a request that ends with an assistant message asks nothing", async () => {
  const h = await chatHarness(replies());
  const messages = [
    { role: "user", content: "x" },
    { role: "assistant", content: "y" },
  ];
  const response = await h.complete("", { messages });
  expect(await response.json()).toMatchObject({ statusCode: 400, message: "No user message" });
});

test.each([
  ["malformed JSON", "{", 400, "application/json"],
  ["a million brackets", "[".repeat(1_000_000), 400, "application/json"],
  ["deep but valid JSON", `${"[".repeat(200_000)}${"]".repeat(200_000)}`, 400, "application/json"],
  ["null", "null", 400, "application/json"],
  ["10 MB", JSON.stringify({ model: "x".repeat(10_000_000) }), 413, "application/json"],
  ["another content type", "{}", 415, "text/plain"],
])("a body of %s is refused in our shape", async (_what, body, status, type) => {
  const h = await chatHarness(replies());
  const response = await h.request("/v1/chat/completions", { method: "POST", body, headers: { "Content-Type": type } });
  expect(await response.json()).toMatchObject({
    statusCode: status,
    message: expect.any(String),
    error: expect.any(String),
  });
});

test("with X-Error-Format: openai errors come in the vendor's shape", async () => {
  const h = await chatHarness(replies());
  const response = await h.complete("Hi", { model: "unknown" }, { headers: { "X-Error-Format": "openai" } });
  expect(response.status).toBe(404);
  expect(await response.json()).toEqual({
    statusCode: 404,
    message: "Unknown model",
    error: { message: "Unknown model", type: "not_found_error", code: "not-found" },
  });
});

test("CORS answers the agent's own origins and no other", async () => {
  const h = await chatHarness(replies());
  const config = { allowedOrigins: ["https://app.example"] };
  await h.request(`/api/instances/${h.agent.slug}/channels/web`, {
    method: "PUT",
    headers: h.agent.headers,
    json: { config, enabled: true },
  });
  const from = async (Origin: string) =>
    (await h.complete("Hi", {}, { headers: { Origin } })).headers.get("Access-Control-Allow-Origin");
  expect(await from("https://app.example")).toBe("https://app.example");
  expect(await from("https://evil.example")).toBeNull();
  for (const extra of [{ stream: true }, { messages: [] }]) {
    const answer = await h.complete("Hi", extra, { headers: { Origin: "https://app.example" } });
    expect(answer.headers.get("Access-Control-Allow-Origin")).toBe("https://app.example");
  }

  await h.request(`/api/instances/${h.agent.slug}`, {
    method: "PATCH",
    headers: h.agent.headers,
    json: { active: false },
  });
  expect(await from("https://app.example")).toBeNull();

  const asks = { Origin: "https://evil.example", "Access-Control-Request-Method": "POST" };
  const native = await h.request(`/api/instances/${h.agent.slug}/chat/stream`, { method: "OPTIONS", headers: asks });
  expect([native.status, native.headers.get("Access-Control-Allow-Origin")]).toEqual([204, null]);
});

test("foreign pages can't talk to an agent that asks for no key, unless it names their origin", async () => {
  const h = await chatHarness(replies());
  const configure = async (config: object) => {
    const json = { config, enabled: true };
    await h.request(`/api/instances/${h.agent.slug}/channels/web`, { method: "PUT", headers: h.agent.headers, json });
  };
  const from = async (Origin: string, extra: object = {}) => {
    const asked = { headers: { Origin, Authorization: "" } };
    const answers = [await h.complete("Hi", extra, asked), await h.native("Hi", extra, asked)];
    return Promise.all(answers.map(async (answer) => (answer.ok ? 200 : (await answer.json()).message)));
  };
  const refused =
    "This origin is not allowed: add it to the agent's allowedOrigins or, if it is this server's own, set publicAddress";
  await configure({ requireAuthentication: false });
  for (const origin of ["https://evil.example", "null", "http://localhost:4001"]) {
    expect(await from(origin, { messages: [] })).toEqual([refused, refused]);
  }
  const hidden = { Origin: "https://evil.example" };
  expect((await h.complete("Hi", { model: "unknown" }, { headers: hidden })).status).toBe(404);
  expect((await h.stored()).turns).toEqual([]);
  for (const own of ["http://localhost", "http://localhost:4000"]) expect(await from(own)).toEqual([200, 200]);
  await configure({ allowedOrigins: ["https://app.example"] });
  expect(await from("https://app.example")).toEqual([200, 200]);
  expect(await from("https://evil.example")).toEqual([refused, refused]);
  await configure({ allowedOrigins: "*" });
  expect(await from("https://evil.example")).toEqual([200, 200]);
  // A caller with the key needs no allowed origin.
  await configure({ requireAuthentication: true, allowedOrigins: [] });
  expect((await h.complete("Hi", {}, { headers: hidden })).status).toBe(200);
});

test("a page is not this server's own because its name points at this server", async () => {
  const h = await chatHarness(replies());
  const json = { config: { requireAuthentication: false }, enabled: true };
  const web = `/api/instances/${h.agent.slug}/channels/web`;
  await h.request(web, { method: "PUT", headers: h.agent.headers, json });
  const status = async (address: string, headers: Record<string, string>) => {
    const url = `${address}/v1/chat/completions`;
    const question = { model: h.agent.slug, messages: [{ role: "user", content: "Hi" }] };
    return (await h.request(url, { method: "POST", headers, json: question })).status;
  };
  const foreign = [
    ["http://evil.com:4000", "http://evil.com:4000"],
    ["http://127.0.0.1.evil.com", "http://127.0.0.1.evil.com"],
    ["http://mylocalhost", "http://mylocalhost"],
    ["http://localhost", "evil://localhost"],
    ["http://127.0.0.1:4000", "http://127.0.0.1:4001"],
  ] as const;
  for (const [address, Origin] of foreign) expect([Origin, await status(address, { Origin })]).toEqual([Origin, 403]);
  expect(await status("http://localhost", { "Sec-Fetch-Site": "cross-site" })).toBe(403);
  const own = [
    ["http://192.0.2.7:4000", "http://192.0.2.7:4000"],
    ["http://[::1]:4000", "http://[::1]:4000"],
    ["http://tea.localhost:443", "https://tea.localhost"],
    ["http://inner", "http://localhost:4000"],
  ] as const;
  for (const [address, Origin] of own) expect([address, await status(address, { Origin })]).toEqual([address, 200]);
  for (const site of ["same-origin", "none"])
    expect(await status("http://inner", { "Sec-Fetch-Site": site })).toBe(200);
});
