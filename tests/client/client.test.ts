import { expect, test } from "vitest";
import { AgentEngineError, type ChatEvent, createAgentEngine } from "../../src/client/index.ts";
import { ChatEvent as ChatEventShape } from "../../src/features/chat/doors/events.ts";
import { createUser, password } from "../features/account/people.ts";
import { harness } from "../harness.ts";
import { finish, gate, reasoning, reply, scriptedModel, text, toolCall } from "../scripted-model.ts";
import { collect } from "./collect.ts";

const agentKey = "key-of-the-agent-under-test";

const saying = (content: string) => ({ messages: [{ role: "user", content }] });

/** A client that has signed in over the network, and an agent with the Web channel on, made through it. */
async function signedIn(model: Parameters<typeof scriptedModel>[0] = () => reply("ok")) {
  const h = await harness({ model: scriptedModel(model) });
  const { email } = await createUser(h, "ada@example.com");
  const baseUrl = await h.listen();
  const { token } = await createAgentEngine({ baseUrl }).signIn({ body: { email, password } });
  const engine = createAgentEngine({ baseUrl: `${baseUrl}/`, token, headers: { "X-From": "test" } });
  await engine.createAgent({ body: { slug: "tea.house", name: "Tea", provider: "demo", model: "demo" } });
  await engine.putAgentChannel({
    slug: "tea.house",
    type: "web",
    body: { config: { apiKey: agentKey }, enabled: true },
  });
  return { h, baseUrl, engine, chat: createAgentEngine({ baseUrl, token: async () => agentKey }) };
}

async function refusal(call: Promise<unknown>): Promise<AgentEngineError> {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof AgentEngineError)) throw new Error(`Not a refusal: ${String(error)}`);
  return error;
}

test("signs in, sets an agent up and reads it back", async () => {
  const { engine, chat } = await signedIn();
  const { user } = await engine.getMe();
  expect(user.organizations).toEqual([
    { slug: "acme", name: "acme", roleKey: "owner", permissions: expect.arrayContaining(["agent:write"]) },
  ]);

  const { instance } = await engine.getAgent({ slug: "tea.house" });
  expect(instance).toMatchObject({ slug: "tea.house", name: "Tea" });
  const changed = await engine.updateAgent({ slug: "tea.house", body: { name: "Coffee" } });
  expect(changed.instance.name).toBe("Coffee");
  const { channels } = await engine.listAgentChannels({ slug: "tea.house" });
  expect(channels).toContainEqual(expect.objectContaining({ channelType: "web", enabled: true }));
  expect((await chat.listModels()).data.map(({ id }) => id)).toEqual(["tea.house"]);
  const completion = await chat.createChatCompletion({ body: { model: "tea.house", ...saying("Hi") } });
  expect(completion.choices[0]?.message.content).toBe("ok");

  expect(await engine.deleteAgent({ slug: "tea.house" })).toEqual({ deleted: true });
  expect((await refusal(engine.getAgent({ slug: "tea.house" }))).status).toBe(404);
});

test("a call that is answered says so, and one that is refused does not", async () => {
  const { engine } = await signedIn();
  let opened = 0;
  const onOpen = () => {
    opened += 1;
  };
  await engine.getAgent({ slug: "tea.house" }, { onOpen });
  expect(opened).toBe(1);
  await refusal(engine.getAgent({ slug: "coffee.house" }, { onOpen }));
  expect(opened).toBe(1);
});

test("activity comes as events of a stream that says when it is open", async () => {
  const { engine, chat } = await signedIn();
  await chat.createChatCompletion({ body: { model: "tea.house", chat_id: "c", ...saying("Hi") } });
  let opened = 0;
  const left = new AbortController();
  const onOpen = () => {
    opened += 1;
  };
  for await (const { id, event, data } of engine.streamActivity({}, { signal: left.signal, onOpen })) {
    expect([opened, event, Number(id) > 0]).toEqual([1, "message", true]);
    if (data.kind !== "inbound") continue;
    expect(data).toMatchObject({ text: "Hi", conversationId: "tea.house:web:api-c" });
    break;
  }
});

test("a picture goes up and comes down as bytes", async () => {
  const { engine } = await signedIn();
  const png = Uint8Array.from(
    atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="),
    (character) => character.charCodeAt(0),
  );
  await engine.putAgentIcon({ slug: "tea.house", body: new Blob([png], { type: "image/png" }) });
  const icon = await engine.getAgentIcon({ slug: "tea.house", v: "1" });
  expect(icon.type).toBe("image/png");
  expect(new Uint8Array(await icon.arrayBuffer())).toEqual(png);
  expect(await engine.putAgentIcon({ slug: "tea.house", body: png })).toHaveProperty("icon");
});

test("a stream shows reasoning, tools and text, each event of its documented shape", async () => {
  const { chat } = await signedIn([
    { parts: [reasoning("Let me think"), text("One "), toolCall("c1", "nope", { a: 1 }), finish("tool-calls")] },
    reply("Done ☕"),
  ]);
  const seen = { text: "", reasoning: "", calls: [] as string[] };
  const events: ChatEvent[] = [];
  for await (const streamed of chat.streamChat({ slug: "tea.house", body: { ...saying("Hi"), chat_id: "c" } })) {
    events.push(streamed);
    const { event, data } = streamed;
    // The type of `data` follows from `event`: this would not compile otherwise.
    if (event === "text-delta") seen.text += data.text;
    if (event === "reasoning-delta") seen.reasoning += data.text;
    if (event === "tool-call") seen.calls.push(`${data.name} ${JSON.stringify(data.args)}`);
  }
  expect(seen).toEqual({ text: "One Done ☕", reasoning: "Let me think", calls: ['nope {"a":1}'] });
  expect(events.map(({ event }) => event)).toEqual([
    ...["step-start", "reasoning-delta", "text-delta", "tool-call", "tool-result", "step-finish"],
    ...["step-start", "text-delta", "step-finish", "done"],
  ]);
  for (const event of events) expect(ChatEventShape.parse(event)).toEqual(event);
  expect(events.at(-1)).toMatchObject({ data: { conversationId: "tea.house:web:api-c" } });
});

test("a failure inside the stream is an event, and the stream still ends with done", async () => {
  const { chat } = await signedIn(() => ({ fail: new Error("secret cause") }));
  const events = await collect(chat.streamChat({ slug: "tea.house", body: saying("Hi") }));
  expect(events.map(({ event }) => event).slice(-2)).toEqual(["error", "done"]);
  for (const event of events) expect(ChatEventShape.parse(event)).toEqual(event);
  expect(JSON.stringify(events)).not.toContain("secret cause");
});

test("refusals are errors with status, message and fields", async () => {
  const { baseUrl, engine, chat } = await signedIn();
  const invalid = await refusal(engine.createAgent({ body: { slug: "Not A Slug" } as never }));
  expect(invalid).toMatchObject({ name: "AgentEngineError", status: 400, body: { error: "Bad Request" } });
  expect(invalid.issues.map(({ path }) => path)).toContain("slug");
  expect(invalid.message).toBe(invalid.body?.message);
  expect(invalid.requestId).toMatch(/^[\w-]{8,}$/);

  const opening = { slug: "tea.house", body: saying("Hi") };
  const anonymous = await refusal(chat.streamChat(opening, { token: null }).next());
  expect(anonymous).toMatchObject({ status: 401, body: { statusCode: 401 } });
  const nobody = await refusal(chat.streamChat({ ...opening, slug: "nobody" }).next());
  expect(nobody.status).toBe(404);

  const lost = await refusal(createAgentEngine({ baseUrl: `${baseUrl}/elsewhere` }).getHealth());
  expect(lost).toMatchObject({ status: 404, body: { message: "No such route: /elsewhere/health" } });
  await expect(engine.getAgent({ slug: ".." })).rejects.toThrow("slug cannot be ..");
  await expect(engine.getAgent({ slug: "" })).rejects.toThrow("slug is missing");
});

test("an abort ends the stream with its reason, and the server ends the model's call", async () => {
  const held = gate();
  const h = await harness({ model: scriptedModel([{ parts: [held.promise, finish()] }]) });
  const { slug, key } = await h.agent();
  const chat = createAgentEngine({ baseUrl: await h.listen(), token: key });
  const stop = new AbortController();
  const events: string[] = [];
  const reading = (async () => {
    for await (const { event } of chat.streamChat({ slug, body: saying("Hi") }, { signal: stop.signal })) {
      events.push(event);
      stop.abort(new Error("enough"));
    }
  })();
  await expect(reading).rejects.toThrow("enough");
  expect(events).toEqual(["step-start"]);
  held.open();
});

test("leaving the loop ends the turn when nothing has come out yet", async () => {
  const held = gate();
  const model = scriptedModel([{ parts: [held.promise, finish()] }]);
  const h = await harness({ model });
  const { slug, key } = await h.agent();
  const chat = createAgentEngine({ baseUrl: await h.listen(), token: key });
  for await (const { event } of chat.streamChat({ slug, body: saying("Hi") })) {
    expect(event).toBe("step-start");
    break;
  }
  const { options } = await model.called(1);
  if (!options.abortSignal?.aborted) {
    await new Promise((resolve) => options.abortSignal?.addEventListener("abort", resolve));
  }
  held.open();
});
