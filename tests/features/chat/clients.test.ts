import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText } from "ai";
import OpenAI, { APIError } from "openai";
import { expect, test } from "vitest";
import { cuttingProxy } from "../../cutting-proxy.ts";
import { finish, reply, scriptedModel, text } from "../../scripted-model.ts";
import { chatHarness } from "./chat.ts";

const messages = [{ role: "user" as const, content: "Hi" }];

async function openai(h: Awaited<ReturnType<typeof chatHarness>>, apiKey = h.agent.key) {
  const client = new OpenAI({ baseURL: `${await h.listen()}/v1`, apiKey, maxRetries: 0 });
  return { client, model: h.agent.slug };
}

test("openai: whole, streamed, the .stream() helper, and the list of models", async () => {
  const h = await chatHarness(scriptedModel(() => reply("Hel", "lo")));
  const { client, model } = await openai(h);

  const whole = await client.chat.completions.create({ model, messages });
  expect(whole.choices[0]).toMatchObject({ message: { role: "assistant", content: "Hello" }, finish_reason: "stop" });
  expect(whole.usage).toEqual({ prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 });

  let streamed = "";
  for await (const chunk of await client.chat.completions.create({ model, messages, stream: true })) {
    streamed += chunk.choices[0]?.delta.content ?? "";
  }
  expect(streamed).toBe("Hello");

  const final = await client.chat.completions.stream({ model, messages }).finalChatCompletion();
  expect(final.choices[0]).toMatchObject({ message: { content: "Hello" }, finish_reason: "stop" });
  const { data } = await client.models.list();
  expect(data.map(({ id }) => id)).toEqual([model]);
  expect(await client.models.retrieve(model)).toMatchObject(data[0] ?? {});
  await expect(client.models.retrieve("unknown")).rejects.toMatchObject({ status: 404, message: "404 Unknown model" });
});

test("openai: a call that is sent again with its Idempotency-Key is given the same reply", async () => {
  const model = scriptedModel((_call, index) => reply(`Answer ${index}.`));
  const h = await chatHarness(model);
  const { client } = await openai(h);
  const once = client.withOptions({ defaultHeaders: { "Idempotency-Key": "order-1" } });
  const body = { model: h.agent.slug, messages, chat_id: "c" };
  const first = await once.chat.completions.create(body);
  const { data, response } = await once.chat.completions.create(body).withResponse();
  expect(data.choices).toEqual(first.choices);
  expect(response.headers.get("Idempotent-Replayed")).toBe("true");

  const streaming = { ...body, chat_id: "s", stream: true } as const;
  const read = async () => {
    let streamed = "";
    for await (const chunk of await once.chat.completions.create(streaming)) {
      streamed += chunk.choices[0]?.delta.content ?? "";
    }
    return streamed;
  };
  expect([await read(), await read()]).toEqual(["Answer 1.", "Answer 1."]);
  expect(model.calls).toHaveLength(2);
  await expect(once.chat.completions.create({ ...body, messages: [] })).rejects.toMatchObject({ status: 400 });
  const other = { ...body, messages: [{ role: "user" as const, content: "Bye" }] };
  await expect(once.chat.completions.create(other)).rejects.toMatchObject({ status: 422 });
});

test("openai: a call whose answer was lost is repeated by the client itself, and runs once", async () => {
  const model = scriptedModel(() => reply("Once."));
  const h = await chatHarness(model);
  const proxy = await cuttingProxy(await h.listen(), (_, index) => (index === 0 ? "answer" : null));
  const headers = { "Idempotency-Key": "order-2" };
  const client = new OpenAI({
    baseURL: `${proxy.url}/v1`,
    apiKey: h.agent.key,
    maxRetries: 5,
    defaultHeaders: headers,
  });
  const body = { model: h.agent.slug, messages, chat_id: "c" };
  const whole = await client.chat.completions.create(body);
  expect(whole.choices[0]?.message.content).toBe("Once.");
  expect(proxy.passed).toHaveLength(2);
  expect(model.calls).toHaveLength(1);
});

test("openai: errors carry their status and their message", async () => {
  const h = await chatHarness(scriptedModel(() => reply("x")));
  const { client, model } = await openai(h, "wrong");
  const refused = { status: 401, code: "unauthorized", type: "authentication_error", message: "401 Invalid API key" };
  await expect(client.chat.completions.create({ model, messages })).rejects.toMatchObject(refused);
  await expect(client.models.list()).rejects.toMatchObject(refused);
  const opted = client.chat.completions.create({ model, messages }, { headers: { "X-Error-Format": "openai" } });
  await expect(opted).rejects.toMatchObject(refused);
  await expect(client.chat.completions.create({ model: "unknown", messages })).rejects.toMatchObject({ status: 404 });
});

test("openai: a failure in mid-stream is raised, not taken for an end", async () => {
  const h = await chatHarness(scriptedModel(() => ({ parts: [text("half"), new Error("gone")] })));
  const { client, model } = await openai(h);
  let streamed = "";
  const read = async () => {
    for await (const chunk of await client.chat.completions.create({ model, messages, stream: true })) {
      streamed += chunk.choices[0]?.delta.content ?? "";
    }
  };
  await expect(read()).rejects.toBeInstanceOf(APIError);
  expect(streamed).toBe("half");
});

test("AI SDK: whole, streamed, errors and a failure in mid-stream", async () => {
  const h = await chatHarness(
    scriptedModel((_call, index) =>
      index < 2 ? { parts: [text("Hel", "lo"), finish()] } : { parts: [text("half"), new Error("gone")] },
    ),
  );
  const provider = createOpenAICompatible({ name: "engine", baseURL: `${await h.listen()}/v1`, apiKey: h.agent.key });
  const model = provider(h.agent.slug);

  expect((await generateText({ model, prompt: "Hi", maxRetries: 0 })).text).toBe("Hello");
  const good = streamText({ model, prompt: "Hi", maxRetries: 0 });
  expect(await good.text).toBe("Hello");
  expect(await good.finishReason).toBe("stop");

  const errors: unknown[] = [];
  const broken = streamText({ model, prompt: "Hi", maxRetries: 0, onError: ({ error }) => void errors.push(error) });
  let streamed = "";
  for await (const delta of broken.textStream) streamed += delta;
  expect(streamed).toBe("half");
  expect(errors).toHaveLength(1);

  await expect(generateText({ model: provider("unknown"), prompt: "Hi", maxRetries: 0 })).rejects.toMatchObject({
    statusCode: 404,
  });
});
