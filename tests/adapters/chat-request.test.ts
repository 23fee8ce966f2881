import type { APICallError } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { createModels } from "../../src/adapters/models/index.ts";
import type { ModelCall, StreamingModel } from "../../src/core/ports.ts";
import { event, startFakeProvider } from "../fake-provider.ts";
import { oracle, ours, type Wire } from "./chat-oracle.ts";
import { readStep } from "./read-step.ts";
import { specs } from "./recorded.ts";

const png = new Uint8Array([137, 80, 78, 71]);
const pictures = [
  { type: "data", data: png },
  { type: "data", data: "iVBORw==" },
  { type: "url", url: new URL("https://pictures.example/a.png") },
] as const;

const user = (text: string) => ({ role: "user" as const, content: [{ type: "text" as const, text }] });
const call = (toolCallId: string, input: unknown = {}) => ({
  type: "tool-call" as const,
  toolCallId,
  toolName: "clock",
  input,
});
const result = (toolCallId: string, output: Extract<Result, { type: "tool-result" }>["output"]) => ({
  role: "tool" as const,
  content: [{ type: "tool-result" as const, toolCallId, toolName: "clock", output }],
});
type Result = Extract<ModelCall["prompt"][number], { role: "tool" }>["content"][number];

const tools: ModelCall["tools"] = [
  { type: "function", name: "clock", description: "Tells the time", inputSchema: { type: "object", properties: {} } },
  { type: "function", name: "bare", inputSchema: { type: "object" } },
];

const calls: Record<string, ModelCall> = {
  "a word": { prompt: [user("Hi")] },
  "a system prompt": { prompt: [{ role: "system", content: "Be brief." }, user("Hi")] },
  "all settings": { prompt: [user("Hi")], temperature: 0.3, maxOutputTokens: 50, reasoning: "medium" },
  "tools that may be called": { prompt: [user("Hi")], tools, toolChoice: { type: "auto" } },
  "tools that may not": { prompt: [user("Hi")], tools, toolChoice: { type: "none" } },
  "no tools": { prompt: [user("Hi")], tools: [] },
  "texts and pictures": {
    prompt: [
      {
        role: "user",
        content: [
          { type: "text", text: "Look" },
          ...pictures.map((data) => ({ type: "file" as const, mediaType: "image/png", filename: "a.png", data })),
        ],
      },
    ],
  },
  "two texts of a user": {
    prompt: [{ role: "user", content: [...user("a").content, ...user("b").content] }],
  },
  "a conversation with calls and results": {
    prompt: [
      user("What time is it?"),
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "Hm" },
          { type: "text", text: "Let me " },
          { type: "text", text: "look." },
          call("aaaaaaaa1", { zone: "UTC", list: [1, "ü", null] }),
          call("aaaaaaaa2"),
        ],
      },
      result("aaaaaaaa1", { type: "json", value: { time: "12:00" } }),
      result("aaaaaaaa2", { type: "error-text", value: "No such zone" }),
      { role: "assistant", content: [call("aaaaaaaa3")] },
      result("aaaaaaaa3", { type: "text", value: "noon" }),
      { role: "assistant", content: [call("aaaaaaaa4"), call("aaaaaaaa5"), call("aaaaaaaa6")] },
      result("aaaaaaaa4", { type: "error-json", value: { code: 5 } }),
      result("aaaaaaaa5", { type: "execution-denied", reason: "Not now" }),
      result("aaaaaaaa6", { type: "content", value: [{ type: "text", text: "It is noon" }] }),
      { role: "assistant", content: [{ type: "text", text: "Noon." }] },
      user("And now?"),
    ],
    tools,
    toolChoice: { type: "auto" },
  },
  "words to go on with": { prompt: [user("Hi"), { role: "assistant", content: [{ type: "text", text: "It is" }] }] },
};

/** The request that a model sends for a call: the bytes of its body, and the headers that matter. */
async function sent(
  make: (fetch: typeof globalThis.fetch) => StreamingModel | Promise<StreamingModel>,
  asked: ModelCall,
) {
  const requests: unknown[] = [];
  const model = await make(async (url, init) => {
    const { authorization, "content-type": type } = Object.fromEntries(new Headers(init?.headers));
    requests.push({ url: String(url), method: init?.method, authorization, type, body: init?.body });
    return new Response("", { headers: { "Content-Type": "text/event-stream" } });
  });
  await model.doStream(asked);
  return requests;
}

const wires: Wire[] = ["openai-compatible", "mistral"];

test.each(
  wires.flatMap((wire) => Object.entries(calls).map(([what, asked]) => [wire, what, asked] as const)),
)("%s: %s is asked with the bytes of the provider's package", async (wire, _what, asked) => {
  const expected = await sent((fetch) => oracle(wire, fetch), asked);
  expect(await sent((fetch) => ours(wire, fetch), asked)).toEqual(expected);
});

test.each([
  ...["codestral-latest", "ministral-3b-latest", "mistral-code-latest", "mistral-large-latest", "mistral-large-2512"],
  ...["voxtral-small-latest", "zai-glm-5", "zai-glm-5-2", "zai-glm-5-3-flash", "zai-glm-latest", "mistral-large-4"],
  ...["mistral-large-4-0", "mistral-medium-latest", "mistral-small-latest", "magistral-medium-latest", "unheard-of"],
])("mistral: %s gets the highest effort that it supports", async (model) => {
  const asked: ModelCall = { prompt: [user("Hi")], reasoning: "medium" };
  const expected = await sent((fetch) => oracle("mistral", fetch, model), asked);
  expect(await sent((fetch) => ours("mistral", fetch, model), asked)).toEqual(expected);
});

test.each([
  "openaiCompatible",
  "google",
])("a signed call of Gemini is sent back with its signature (%s)", async (provider) => {
  const signed = { ...call("call_1"), providerOptions: { [provider]: { thoughtSignature: "c2ln" } } };
  const asked: ModelCall = {
    prompt: [user("Hi"), { role: "assistant", content: [signed] }, result("call_1", { type: "text", value: "12" })],
  };
  const [request] = await sent((fetch) => ours("openai-compatible", fetch), asked);
  const { messages } = JSON.parse((request as { body: string }).body);
  // The package repeats the signature under its option's name, which no server knows.
  expect(messages[1].tool_calls).toEqual([
    {
      id: "call_1",
      type: "function",
      function: { name: "clock", arguments: "{}" },
      extra_content: { google: { thought_signature: "c2ln" } },
    },
  ]);
});

const chunk = (delta: object, finish_reason: string | null = null) => event({ choices: [{ delta, finish_reason }] });
const encrypted = (id: string, data: string) => ({
  type: "reasoning.encrypted",
  data,
  id,
  format: "google-gemini-v1",
  index: 0,
});
const [first, second] = ["tool_clock_Ab1", "tool_clock_Cd2"];
const called = chunk({
  tool_calls: [first, second].map((id, index) => ({
    index,
    id,
    type: "function",
    function: { name: "clock", arguments: "{}" },
  })),
});
const thought = chunk({
  content: "",
  reasoning: "Hm",
  reasoning_details: [{ type: "reasoning.text", text: "Hm", format: "google-gemini-v1", index: 0 }],
});
const signed = chunk({
  reasoning_details: [encrypted(first, "c2ln"), { type: "reasoning.encrypted", data: "b3Ro" }, 5],
});

test.each([
  ["before", [thought, signed, called]],
  ["after", [thought, called, signed]],
])("the data that OpenRouter encrypts of Gemini's thoughts %s a call comes back with the call", async (_when, pieces) => {
  const provider = await startFakeProvider({ stream: [...pieces, chunk({}, "tool_calls"), event("[DONE]")] });
  const model = await createModels().resolve({ ...specs["openai-compatible"], baseUrl: provider.url });
  const { step } = await readStep(model, "What time is it?");
  expect([step.reasoning, step.calls.map(({ id }) => id)]).toEqual(["Hm", [first, second]]);
  const said = step.message(() => true);
  // The id may be a secret that is not to be stored.
  expect(JSON.stringify(step.calls[0]?.providerOptions)).not.toContain(first);
  await readStep(model, said ? [user("What time is it?"), said] : []);
  const [, message] = provider.exchanges[1]?.body.messages as object[];
  expect(message).toMatchObject({
    reasoning_content: "Hm",
    reasoning_details: [encrypted(first, "c2ln")],
    tool_calls: [{ id: first }, { id: second }],
  });
});

test.each([
  [
    "encrypts for calls that never come",
    (id: number) => ({ reasoning_details: [encrypted(`call_${id}`, "x".repeat(400_000))] }),
  ],
  [
    "calls without a name",
    (index: number) => ({ tool_calls: [{ index, function: { arguments: "x".repeat(400_000) } }] }),
  ],
])("a server that %s without end is cut off", async (_what, delta) => {
  const provider = await startFakeProvider({ stream: [1, 2, 3].map((nth) => chunk(delta(nth))) });
  const model = await createModels().resolve({ ...specs["openai-compatible"], baseUrl: provider.url });
  expect(String((await readStep(model, "Hi")).error)).toContain("more than 1000000 characters that belong to no call");
});

test("encrypted data follows a call that got another id", async () => {
  const providerOptions = { openaiCompatible: { reasoningDetail: encrypted(first, "c2ln") } };
  const asked: ModelCall = {
    prompt: [user("Hi"), { role: "assistant", content: [{ ...call("call_1"), providerOptions }] }],
  };
  const [request] = await sent((fetch) => ours("openai-compatible", fetch), asked);
  const { messages } = JSON.parse((request as { body: string }).body);
  expect(messages[1].reasoning_details).toEqual([encrypted("call_1", "c2ln")]);
});

test.each(wires)("%s: leaves out a file that is no picture, and says so", async (wire) => {
  const file = { type: "file" as const, mediaType: "audio/wav", data: { type: "data" as const, data: png } };
  const [request] = await sent((fetch) => ours(wire, fetch), { prompt: [{ role: "user", content: [file] }] });
  expect((request as { body: string }).body).toContain("[A picture that you can't see]");
});

const refusals: [status: number, headers: Record<string, string>, body: string][] = [
  [400, {}, '{"error":{"message":"no such tool","type":"invalid_request_error","code":null}}'],
  [401, {}, '{"error":{"message":"bad key"}}'],
  [429, { "retry-after": "7" }, '{"error":{"message":"pay","type":"insufficient_quota","code":"insufficient_quota"}}'],
  [429, { "retry-after-ms": "700" }, ""],
  [500, {}, "<html>broken</html>"],
  [503, {}, '{"error":{"message":"no room"}}'],
];

test.each(refusals)("openai-compatible: a %d gives the same error", async (status, headers, body) => {
  // Where a server of hono's runs in the process, its `Response` names no type by itself until it is read.
  const fetch = async () => new Response(body, { status, headers: { "content-type": "text/plain", ...headers } });
  const fails = async (model: StreamingModel) => {
    const error = (await Promise.resolve(model.doStream({ prompt: [user("Hi")] })).catch(
      (reason) => reason,
    )) as APICallError;
    const { message, statusCode, isRetryable, responseHeaders, responseBody, data } = error;
    return {
      said: data === undefined ? undefined : message,
      statusCode,
      isRetryable,
      responseHeaders,
      responseBody,
      data,
    };
  };
  expect(await fails(await ours("openai-compatible", fetch))).toEqual(await fails(oracle("openai-compatible", fetch)));
});

test("mistral: a refusal gives the same error", async () => {
  const data = { object: "error", message: "no room", type: "service_error", param: null, code: "3000" };
  const fetch = async () => Response.json(data, { status: 503 });
  for (const model of [await ours("mistral", fetch), oracle("mistral", fetch)]) {
    await expect(model.doStream({ prompt: [user("Hi")] })).rejects.toMatchObject({
      message: "no room",
      statusCode: 503,
      isRetryable: true,
      data,
    });
  }
});
