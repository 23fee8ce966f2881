import { APICallError } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { createModels } from "../../src/adapters/models/index.ts";
import { refusalOf } from "../../src/adapters/models/removable-parts.ts";
import type { ModelCall } from "../../src/core/ports.ts";
import { TestClock } from "../clock.ts";
import { done, event, type Reply, refusal, say, startFakeProvider } from "../fake-provider.ts";
import { readStep } from "./read-step.ts";
import { type RemoteProvider, recorded, specs } from "./recorded.ts";
import { wires } from "./wires.ts";

const ok: Reply = { stream: [say("ok"), done()] };

async function start(...replies: Reply[]) {
  const provider = await startFakeProvider(...replies);
  const clock = new TestClock();
  const models = createModels({ now: () => clock.now() });
  const model = await models.resolve({ ...specs["openai-compatible"], baseUrl: provider.url });
  return { provider, clock, model };
}

const settings = { reasoning: "medium", temperature: 0.3, maxOutputTokens: 900_000 } as const;

/** The names of the settings on the wire. */
const sent = ({ body }: { body: Record<string, unknown> }) =>
  ["reasoning_effort", "temperature", "max_tokens"].filter((name) => name in body);

test.each([
  ['registry.ollama.ai/library/llama3:8b "llama3" does not support thinking', "reasoning_effort"],
  ["Unsupported parameter: 'reasoning_effort' is not supported with this model.", "reasoning_effort"],
  ["Your organization must be verified to generate reasoning summaries.", "reasoning_effort"],
  ["`temperature` may only be set to 1 when thinking is enabled", "temperature"],
  ["Unsupported value: 'temperature' does not support 0.3 with this model.", "temperature"],
  ["max_tokens is too large: 900000. This model supports at most 16384 completion tokens", "max_tokens"],
])("a refused setting (%s) is left out, and the call succeeds", async (message, name) => {
  const { provider, model } = await start(refusal(400, message), ok);
  const { step, error } = await readStep(model, "Hi", settings);
  expect(error).toBeUndefined();
  expect(step.text).toBe("ok");
  expect(provider.exchanges.map(sent)).toEqual([
    ["reasoning_effort", "temperature", "max_tokens"],
    ["reasoning_effort", "temperature", "max_tokens"].filter((other) => other !== name),
  ]);
});

test("a model that refuses more than one setting gets none of them, also later", async () => {
  const { provider, model } = await start(
    refusal(422, "temperature is deprecated for this model"),
    refusal(400, "thinking is not enabled for this model"),
    ok,
  );
  expect((await readStep(model, "Hi", settings)).step.text).toBe("ok");
  expect((await readStep(model, "Hi", settings)).step.text).toBe("ok");
  expect(provider.exchanges.map(sent)).toEqual([
    ["reasoning_effort", "temperature", "max_tokens"],
    ["reasoning_effort", "max_tokens"],
    ["max_tokens"],
    ["max_tokens"],
  ]);
});

test("other values than the refused ones are sent, and each refused one is left out from then on", async () => {
  const limit = refusal(400, "max_tokens is too large: 900000. This model supports at most 16384 completion tokens");
  const { provider, model } = await start(limit, ok);
  const read = (maxOutputTokens: number) => readStep(model, "Hi", { maxOutputTokens });
  await read(900_000);
  await read(500);
  provider.answer(limit, ok);
  await read(20_000);
  for (const tokens of [900_000, 20_000, 500]) expect((await read(tokens)).step.text).toBe("ok");
  expect(provider.exchanges.map(({ body }) => body.max_tokens)).toEqual([
    ...[900_000, undefined, 500, 20_000, undefined],
    ...[undefined, undefined, 500],
  ]);
});

test("a setting that a refusal only repeats, or mentions beside another one, is sent again", async () => {
  const { provider, model } = await start();
  const all = ["reasoning_effort", "temperature", "max_tokens"];
  const others = ["temperature", "max_tokens"];
  const input = { model: "m", messages: [{ role: "user", content: "Hi" }], temperature: 0.3, max_tokens: 900_000 };
  const loc = ["body", "reasoning_effort"];
  const detail = [{ type: "extra_forbidden", loc, msg: "reasoning_effort is not permitted", input }];
  provider.answer({ status: 422, body: JSON.stringify({ detail }) }, ok);
  for (const _ of [1, 2]) expect((await readStep(model, "Hi", settings)).step.text).toBe("ok");
  expect(provider.exchanges.map(sent)).toEqual([all, others, others]);

  const naming = await start();
  const words = "m does not support ['reasoning_effort'], but temperature, and max_tokens";
  naming.provider.answer(refusal(400, words), refusal(400, words), refusal(400, words), ok);
  for (const _ of [1, 2]) expect((await readStep(naming.model, "Hi", settings)).step.text).toBe("ok");
  const asked = naming.provider.exchanges.map(sent);
  expect(asked).toEqual([all, ["reasoning_effort", "max_tokens"], ["reasoning_effort"], [], others]);
});

test("sends a refused setting again after half an hour, since there may be another model", async () => {
  const { provider, clock, model } = await start(refusal(400, "this model does not support thinking"), ok);
  const read = () => readStep(model, "Hi", { reasoning: "medium" });
  await read();
  await clock.advance(30 * 60_000 - 1);
  await read();
  await clock.advance(1);
  await read();
  await read();
  expect(provider.exchanges.map(sent)).toEqual([
    ["reasoning_effort"],
    [],
    [],
    ["reasoning_effort"],
    ["reasoning_effort"],
  ]);
});

test.each([
  // Databricks, vLLM before 0.4.3, Fireworks, Azure's on own data, LiteLLM, and OpenAI's own words.
  "#: extraneous key [stream_options] is not permitted",
  '[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted","input":{"include_usage":true}}]',
  "Extra inputs are not permitted, field: 'stream_options'",
  "Validation error at #/stream_options: Extra inputs are not permitted",
  "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
  "Unrecognized request argument supplied: stream_options",
])("accepts token counts that the server does not want to be requested (%s)", async (message) => {
  const usage = { prompt_tokens: 7, completion_tokens: 5 };
  const unasked = event({ choices: [{ delta: {}, finish_reason: "stop" }], usage });
  const { provider, model } = await start(refusal(400, message), { stream: [say("ok"), done().slice(0, 1)] });
  expect(await readStep(model, "Hi", settings)).toMatchObject({
    error: undefined,
    step: { text: "ok", finish: { reason: "stop" }, usage: { promptTokens: 0, completionTokens: 0 } },
  });
  provider.answer({ stream: [say("ok"), unasked] });
  expect((await readStep(model, "Hi")).step.usage).toEqual({ promptTokens: 7, completionTokens: 5 });
  const options = { include_usage: true };
  expect(provider.exchanges.map(({ body }) => body.stream_options)).toEqual([options, undefined, undefined]);
  expect(provider.exchanges.map(sent)[1]).toEqual(["reasoning_effort", "temperature", "max_tokens"]);
});

test.each([
  ["a refusal that names nothing", refusal(400, "no such tool"), settings, 2],
  ["a setting that was not made", refusal(400, "bad temperature"), { maxOutputTokens: 5 }, 2],
  [
    "a conversation that is too long",
    refusal(400, "max_tokens and the context exceed 8192"),
    { maxOutputTokens: 5 },
    2,
  ],
  [
    "blocks of thinking",
    refusal(400, "messages.1: `thinking` blocks cannot be modified"),
    { reasoning: "medium" as const },
    2,
  ],
  ["a refusal of a call without settings", refusal(400, "no such tool"), {}, 1],
  ["another status", refusal(403, "thinking is not for you"), settings, 1],
  ["a refusal that stays", refusal(400, "no temperature, no max_tokens, not thinking"), settings, 4],
])("%s is the provider's error", async (_what, reply, made, asked) => {
  const { provider, model } = await start(reply);
  expect((await readStep(model, "Hi", made)).error).toBeDefined();
  expect(provider.exchanges).toHaveLength(asked);
});

test("leaves out all settings after a refusal that names none, for half an hour", async () => {
  const { provider, clock, model } = await start(refusal(400, "Bad Request"), ok);
  const read = async (options: Parameters<typeof readStep>[2]) => {
    expect((await readStep(model, "Hi", options)).step.text).toBe("ok");
    return sent(provider.exchanges.at(-1) ?? { body: {} });
  };
  expect(await read(settings)).toEqual([]);
  expect(await read(settings)).toEqual([]);
  expect(await read({ ...settings, maxOutputTokens: 500 })).toEqual(["max_tokens"]);
  expect(provider.exchanges).toHaveLength(4);
  await clock.advance(30 * 60_000);
  expect(await read(settings)).toEqual(["reasoning_effort", "temperature", "max_tokens"]);
});

/** A request as a server repeats it. */
const request = {
  model: "m",
  messages: [{ role: "user", content: 'Which "context length" has it? It\'s } {"a": [' }],
  temperature: 0.3,
  max_tokens: 900_000,
  stream_options: { include_usage: true },
};

/** As Python writes it. */
const written =
  "{'model': 'm', 'messages': [{'role': 'user', 'content': \"What's {'the context length'?\"}], 'temperature': 0.3, 'max_tokens': 900000}";

test.each([
  ["FastAPI", { detail: [{ type: "missing", loc: ["body", "thinking"], msg: "Field required", input: request }] }],
  ["a gateway", { error: { message: "No thinking", type: "bad", request } }],
  ["a gateway that names it otherwise", { error: "No thinking", sent: { body: request } }],
  ["Google", { error: { message: "No thinking" }, sent: { contents: [{ parts: [] }], temperature: 1 } }],
  ["a gateway that wraps it", { error: { message: `No thinking in ${JSON.stringify(request)}` } }],
  [
    "OpenRouter",
    { error: { message: "Provider returned error", metadata: { raw: JSON.stringify({ thinking: 1, request }) } } },
  ],
  [
    "vLLM",
    {
      object: "error",
      message: `[{'type': 'extra_forbidden', 'loc': ('body', 'thinking'), 'msg': 'Extra inputs are not permitted', 'input': ${written}}]`,
    },
  ],
  [
    "pydantic",
    {
      message: `1 validation error for Body\nthinking\n  Extra inputs are not permitted [type=extra_forbidden, input_value=${written}, input_type=dict]`,
    },
  ],
  [
    "Bedrock",
    {
      message:
        "Failed to deserialize the JSON body into the target type: thinking: unknown field `thinking`, expected one of `messages`, `model`, `max_tokens`, `stream_options`, `temperature`, or `user` at line 1 column 212",
    },
  ],
])("a refusal by %s that repeats the request or lists fields is about nothing of that", async (_by, body) => {
  const { provider, model } = await start({ status: 400, body: JSON.stringify(body) }, ok);
  for (const _ of [1, 2]) {
    const { step } = await readStep(model, [...called(), ...called()], settings);
    expect([step.text, step.shortened]).toEqual(["ok", false]);
  }
  const others = ["temperature", "max_tokens"];
  expect(provider.exchanges.map(sent)).toEqual([["reasoning_effort", ...others], others, others]);
  for (const { body } of provider.exchanges) expect(body).toHaveProperty("stream_options");
});

test("reads a refusal full of braces, quotes or backslashes in linear time", () => {
  const begun = performance.now();
  for (const piece of ["{", "{[", '{"', "\\", "{'\\", '"input":{', '{"messages', '"request', "expected `a`, "]) {
    const text = piece.repeat(64_000 / piece.length);
    refusalOf(new APICallError({ message: text, url: "", requestBodyValues: {}, statusCode: 400, responseBody: text }));
  }
  expect(performance.now() - begun).toBeLessThan(1_000);
});

const called = (...thoughts: string[]): ModelCall["prompt"] => [
  { role: "user", content: [{ type: "text", text: "What time is it?" }] },
  {
    role: "assistant",
    content: [
      ...thoughts.map((text) => ({ type: "reasoning" as const, text })),
      { type: "tool-call", toolCallId: "call_1", toolName: "clock", input: {} },
    ],
  },
  {
    role: "tool",
    content: [{ type: "tool-result", toolCallId: "call_1", toolName: "clock", output: { type: "text", value: "12" } }],
  },
];

const thoughtsIn = ({ body }: { body: Record<string, unknown> }) =>
  (body.messages as Record<string, unknown>[]).flatMap((message) =>
    message.role === "assistant" ? [message.reasoning_content] : [],
  );

test.each([
  // Groq, Mistral behind gateways, and DeepSeek's R1.
  "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
  '[{"type":"extra_forbidden","loc":["body","messages",1,"assistant","reasoning_content"],"msg":"Extra inputs are not permitted"}]',
  "The reasoning_content is an intermediate result for display purposes only. Please remove it from your message.",
])("what a model thought is left out where it is refused (%s), from then on", async (message) => {
  const { provider, model } = await start(refusal(400, message), ok);
  for (const reasoning of [undefined, "medium"] as const) {
    const { step } = await readStep(model, called("Hm"), reasoning ? { reasoning } : {});
    expect(step.text).toBe("ok");
  }
  expect(provider.exchanges.map(thoughtsIn)).toEqual([["Hm"], [undefined], [undefined]]);
  expect(provider.exchanges.map(sent)).toEqual([[], [], ["reasoning_effort"]]);
});

test.each([
  // DeepSeek and Moonshot.
  "The `reasoning_content` in the thinking mode must be passed back to the API.",
  "Missing `reasoning_content` field in the assistant message at message index 2.",
  "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
])("sends a blank for thoughts that a model requires (%s), from then on", async (message) => {
  const { provider, model } = await start(refusal(400, message), ok);
  for (const prompt of [called(), [...called(), ...called("Hm")]])
    expect((await readStep(model, prompt, { reasoning: "medium" })).step.text).toBe("ok");
  expect(provider.exchanges.map(thoughtsIn)).toEqual([[undefined], [" "], [" ", "Hm"]]);
  expect(provider.exchanges.map(sent)).toEqual([["reasoning_effort"], ["reasoning_effort"], ["reasoning_effort"]]);
});

test("does not repeat a call for ever when a model keeps requiring thoughts", async () => {
  const { provider, model } = await start(refusal(400, "Missing `reasoning_content` field"));
  expect((await readStep(model, called())).error).toMatchObject({ statusCode: 400 });
  expect(provider.exchanges.map(thoughtsIn)).toEqual([[undefined], [" "], [undefined]]);
});

const picture = {
  type: "file",
  mediaType: "image/png",
  data: { type: "data", data: new Uint8Array([137, 80]) },
} as const;

test.each([
  [400, "Invalid content type. image_url is only supported by certain models."],
  [404, "No endpoints found that support image input"],
  [500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"],
  [400, "this model is missing data required for image input"],
  [400, "messages.0.content must be a string"],
  [400, "m is not a multimodal model"],
])("leaves out pictures that a model can't read (%d %s), and says so, for that call", async (status, message) => {
  const { provider, model } = await start(refusal(status, message), ok, ok);
  const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "Look" }, picture] }];
  expect((await readStep(model, prompt)).step.text).toBe("ok");
  expect((await readStep(model, prompt)).step.text).toBe("ok");
  const [refused, blind, next] = provider.exchanges.map(({ body }) => JSON.stringify(body));
  expect(refused).toContain("image_url");
  expect(blind).not.toContain("image_url");
  expect(blind).toContain("[A picture that you can't see]");
  expect(next).toContain("image_url");
});

test("leaves out too large pictures before it shortens the conversation", async () => {
  const { provider, model } = await start(refusal(413, "Payload Too Large"), ok);
  const look: ModelCall["prompt"] = [...called(), { role: "user", content: [{ type: "text", text: "Look" }, picture] }];
  expect((await readStep(model, look)).step.text).toBe("ok");
  const messages = () => provider.exchanges.map(({ body }) => (body.messages as unknown[]).length);
  expect(messages()).toEqual([4, 4]);
  expect(JSON.stringify(provider.exchanges[1]?.body)).toContain("[A picture that you can't see]");

  provider.answer(refusal(413, "Payload Too Large"));
  expect((await readStep(model, look)).error).toMatchObject({ statusCode: 413 });
  expect(messages().slice(2)).toEqual([4, 4, 1]);

  provider.answer(refusal(413, "Request too large for model `m` on tokens per minute (TPM)"), ok);
  expect((await readStep(model, look)).step.text).toBe("ok");
  expect(messages().slice(5)).toEqual([4, 1]);
  expect(JSON.stringify(provider.exchanges.at(-1)?.body)).toContain("image_url");
});

test("a failure that is not about pictures stays a failure, also with a picture", async () => {
  const { provider, model } = await start(refusal(500, "The image of the container is gone"), ok);
  const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "Look" }, picture] }];
  expect((await readStep(model, prompt)).error).toMatchObject({ statusCode: 500 });
  expect(provider.exchanges).toHaveLength(1);
});

test("leaves a setting out for later calls only after a call without it succeeded", async () => {
  const { provider, model } = await start(
    refusal(400, "bad temperature"),
    refusal(500, "broken"),
    refusal(400, "bad temperature"),
    ok,
  );
  expect((await readStep(model, "Hi", { temperature: 1 })).error).toMatchObject({ statusCode: 500 });
  expect((await readStep(model, "Hi", { temperature: 1 })).step.text).toBe("ok");
  expect(provider.exchanges.map(sent)).toEqual([["temperature"], [], ["temperature"], []]);
});

const temperatures: Record<RemoteProvider, [model: string, sent: unknown, thinking: unknown]> = {
  openai: ["gpt-5-mini", undefined, undefined],
  anthropic: ["claude-haiku-4-5", 1, undefined],
  google: ["gemini-2.5-flash", 1.7, 1.7],
  mistral: ["mistral-small-latest", 1.7, 1.7],
  ollama: ["qwen3:8b", 1.7, 1.7],
  "openai-compatible": ["m", 1.7, 1.7],
};

test.each(Object.keys(wires) as RemoteProvider[])("%s: a temperature goes out as its model takes it", async (name) => {
  const [model, plain, thinking] = temperatures[name];
  for (const [reasoning, expected] of [
    [undefined, plain],
    ["medium", thinking],
  ] as const) {
    const { fetch, requests } = await recorded(`${name}/answer.sse`);
    const resolved = await createModels({ fetch }).resolve({ ...specs[name], model });
    await readStep(resolved, "Hi", { temperature: 1.7, ...(reasoning ? { reasoning } : {}) });
    const body = requests[0]?.body as { temperature?: number; generationConfig?: { temperature?: number } };
    expect(body.temperature ?? body.generationConfig?.temperature).toBe(expected);
  }
});

test.each([
  // Adaptive thinking is part of the limit, a budget comes on top of it; both stay within what the model can write.
  ["claude-sonnet-5-5", undefined, { max_tokens: 128_000, thinking: { type: "adaptive" } }],
  ["claude-sonnet-5-5", 2_000, { max_tokens: 2_000, thinking: { type: "adaptive" } }],
  ["claude-haiku-4-5", undefined, { max_tokens: 64_000, thinking: { type: "enabled", budget_tokens: 19_200 } }],
  ["claude-haiku-4-5", 500, { max_tokens: 19_700, thinking: { type: "enabled", budget_tokens: 19_200 } }],
  ["claude-haiku-4-5", 1_000_000, { max_tokens: 64_000, thinking: { type: "enabled", budget_tokens: 19_200 } }],
])("%s with a limit of %s tokens thinks within it", async (model, maxOutputTokens, body) => {
  const { fetch, requests } = await recorded("anthropic/answer.sse");
  const resolved = await createModels({ fetch }).resolve({ ...specs.anthropic, model });
  await readStep(resolved, "Hi", { reasoning: "medium", ...(maxOutputTokens ? { maxOutputTokens } : {}) });
  expect(requests[0]?.body).toMatchObject(body);
});
