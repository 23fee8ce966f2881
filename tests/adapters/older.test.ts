import { expect, test } from "vitest";
import { createModels } from "../../src/adapters/models/index.ts";
import { validPrompt } from "../../src/adapters/models/valid.ts";
import type { ModelCall } from "../../src/core/ports.ts";
import { TestClock } from "../clock.ts";
import { done, event, type Reply, refusal, say, startFakeProvider } from "../fake-provider.ts";
import { readStep } from "./read-step.ts";
import { specs } from "./recorded.ts";

type Prompt = ModelCall["prompt"];

const ok: Reply = { stream: [say("ok"), done()] };

const user = (text: string): Prompt[number] => ({ role: "user", content: [{ type: "text", text }] });
const assistant = (text: string): Prompt[number] => ({ role: "assistant", content: [{ type: "text", text }] });
const called: Prompt = [
  { role: "assistant", content: [{ type: "tool-call", toolCallId: "call_1", toolName: "clock", input: {} }] },
  {
    role: "tool",
    content: [{ type: "tool-result", toolCallId: "call_1", toolName: "clock", output: { type: "text", value: "12" } }],
  },
];
const system: Prompt = [{ role: "system", content: "Be brief." }];
const exchange = (text: string): Prompt => [user(text), ...called, assistant(`${text}!`)];

async function start(...replies: Reply[]) {
  const provider = await startFakeProvider(...replies);
  const clock = new TestClock();
  const models = createModels({ now: () => clock.now() });
  const model = await models.resolve({ ...specs["openai-compatible"], baseUrl: provider.url });
  /** The users' messages in each call. */
  const heard = () =>
    provider.exchanges.map(({ body }) =>
      (body.messages as { role: string; content: string }[])
        .filter(({ role }) => role === "user")
        .map(({ content }) => content.replaceAll("\n\n", " "))
        .join(" "),
    );
  return { provider, clock, model, heard };
}

const tooLong = refusal(400, "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens");
const long = [...system, ...exchange("a"), ...exchange("b"), ...exchange("c"), user("d"), user("e"), ...called];

test("repeats a too long conversation without its older half, as often as needed", async () => {
  const { provider, model, heard } = await start(tooLong, tooLong, ok);
  expect((await readStep(model, long)).step.text).toBe("ok");
  expect(heard()).toEqual(["a b c d e", "c d e", "d e"]);
  expect((provider.exchanges.at(-1)?.body.messages as { role: string }[]).map(({ role }) => role)).toEqual([
    ...["system", "user", "assistant", "tool"],
  ]);
});

test("leaves out the same messages at once in later steps and turns", async () => {
  const { model, heard } = await start(tooLong, tooLong, ok);
  await readStep(model, long);
  const step = await readStep(model, [...long, ...called]);
  expect([step.step.text, step.step.shortened]).toEqual(["ok", true]);
  await readStep(model, [...long, assistant("e!"), user("f")]);
  // The oldest messages are no longer part of the history.
  await readStep(model, [...system, ...long.slice(6), assistant("e!"), ...exchange("f"), user("g")]);
  expect(heard().slice(3)).toEqual(["d e", "d e f", "d e f g"]);
});

test("shortens it again once it has become too long again", async () => {
  const { model, heard } = await start(tooLong, ok, tooLong, ok);
  await readStep(model, long);
  const grown = [...long, assistant("e!"), ...exchange("f"), user("g")];
  await readStep(model, grown);
  await readStep(model, [...grown, assistant("g!"), user("h")]);
  expect(heard()).toEqual(["a b c d e", "c d e", "c d e f g", "f g", "f g h"]);
});

const tools = [{ type: "function" as const, name: "clock", inputSchema: { type: "object" as const } }];
const more = [...long, assistant("e!"), user("f")];

test.each<[string, Prompt, Omit<ModelCall, "prompt">?]>([
  ["another conversation of that length", [...system, ...exchange("x"), ...more.slice(5)]],
  ["one that was shorter", [...system, ...exchange("b"), ...exchange("c"), user("d"), user("e"), ...called, ...called]],
  ["one whose reply became another", more.map((message) => (message.role === "assistant" ? assistant("!") : message))],
  ["one with other instructions", [{ role: "system", content: "Be short." }, ...more.slice(1)]],
  ["one that may be answered at less length", more, { maxOutputTokens: 5 }],
  ["one with other tools", more, { tools }],
  ["one that is thought about", more, { reasoning: "medium" }],
])("what may fit is asked whole: %s", async (_what, prompt, options) => {
  const { provider, model, heard } = await start(tooLong, ok);
  await readStep(model, long);
  expect((await readStep(model, prompt, options)).step.shortened).toBe(false);
  expect(heard()).toHaveLength(3);
  expect(provider.exchanges.at(-1)?.body.messages).toHaveLength(validPrompt(prompt).length);
});

test("the time in the instructions makes no difference, nor does a picture", async () => {
  const at = (time: string): Prompt => [{ role: "system", content: `It is ${time}.` }];
  const picture = (byte: number): Prompt[number] => {
    const data = { type: "data" as const, data: new Uint8Array([byte]) };
    return { role: "user", content: [{ type: "file", mediaType: "image/png", data }] };
  };
  const { provider, model } = await start(tooLong, ok);
  const messages = () => (provider.exchanges.at(-1)?.body.messages as unknown[]).length;
  await readStep(model, [...at("09:59"), ...long.slice(1), picture(1)]);
  await readStep(model, [...at("10:00"), ...long.slice(1), picture(1), ...called]);
  expect(messages()).toBe(7);
  await readStep(model, [...at("10:00"), ...long.slice(1), picture(2), ...called]);
  expect(messages()).toBe(19);
});

test("tells another conversation apart without reading its pictures", async () => {
  let reads = 0;
  class Watched extends Uint8Array<ArrayBuffer> {
    override get buffer() {
      reads += 1;
      return super.buffer;
    }
  }
  const data = { type: "data" as const, data: new Watched(new ArrayBuffer(3)) };
  const look: Prompt[number] = { role: "user", content: [{ type: "file", mediaType: "image/png", data }] };
  const { model } = await start(tooLong, ok);
  await readStep(model, long);
  const sent = async (prompt: Prompt) => {
    reads = 0;
    await readStep(model, prompt);
    return reads;
  };
  expect(await sent([...system, look])).toBe(1);
  expect(await sent([...system, ...exchange("x"), ...long.slice(5), look])).toBe(1);
});

test("sends the whole conversation again after half an hour, since the model may have a larger context", async () => {
  const { provider, clock, model, heard } = await start(tooLong, ok);
  await readStep(model, long);
  await clock.advance(30 * 60_000 - 1);
  await readStep(model, long);
  await clock.advance(1);
  provider.answer(tooLong, ok);
  await readStep(model, long);
  await readStep(model, long);
  expect(heard().slice(2)).toEqual(["c d e", "a b c d e", "c d e", "c d e"]);
});

test("remembers nothing of a conversation of which no part was accepted", async () => {
  const { provider, model, heard } = await start(tooLong, refusal(500, "broken"));
  await readStep(model, long);
  provider.answer(tooLong, { stream: [event({ error: { message: "broken" } })] });
  await readStep(model, long);
  provider.answer(ok);
  await readStep(model, long);
  expect(heard().slice(2)).toEqual(["a b c d e", "c d e", "c d e"]);
});

test("one that stays too long fails after its last messages", async () => {
  const { model, heard } = await start(tooLong);
  expect((await readStep(model, long)).error).toMatchObject({ statusCode: 400 });
  expect(heard()).toEqual(["a b c d e", "c d e", "d e"]);
  expect((await readStep(model, [assistant("Hello"), user("a")])).error).toMatchObject({ statusCode: 400 });
  expect(heard().slice(3)).toEqual(["(Nobody wrote yet. You began the conversation.) a", "a"]);
});

test.each([
  [400, "prompt is too long: 210000 tokens > 200000 maximum"],
  [400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"],
  [400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."],
  [400, "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"],
  [400, "the request exceeds the available context size (8192 tokens), try increasing it"],
  [400, "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 5000)"],
  [400, "Your input exceeds the context window of this model. Please adjust your input and try again."],
  [400, "The decoder prompt (length 9000) is longer than the maximum model length of 8192."],
  [400, "Please reduce the length of the messages or completion."],
  [400, "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]"],
  [400, "Prompt 超长"],
  [400, "max_tokens must be at least 1, got -1017."],
  [500, "Context size has been exceeded."],
  [400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
  [400, "Invalid request: Your request exceeded model token limit: 131072"],
  [413, "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 6500"],
])("%d %s is such a refusal, and no setting is left out for it", async (status, words) => {
  const { provider, model, heard } = await start(refusal(status, words), ok);
  expect((await readStep(model, long, { maxOutputTokens: 9, temperature: 1 })).step.text).toBe("ok");
  expect(heard()).toEqual(["a b c d e", "c d e"]);
  expect(provider.exchanges[1]?.body).toMatchObject({ max_tokens: 9, temperature: 1 });
});

test("leaves out a token limit above the model's context once no older message is left", async () => {
  const words =
    "'max_tokens' or 'max_completion_tokens' is too large: 9000. This model's maximum context length is 8192 tokens and your request has 20 input tokens (9000 > 8192 - 20)";
  const { provider, model, heard } = await start(refusal(400, words), refusal(400, words), refusal(400, words), ok);
  const limits = () => provider.exchanges.map(({ body }) => body.max_tokens);
  expect((await readStep(model, long, { maxOutputTokens: 9_000 })).step.text).toBe("ok");
  expect(heard()).toEqual(["a b c d e", "c d e", "d e", "d e"]);
  expect(limits()).toEqual([9_000, 9_000, 9_000, undefined]);
  await readStep(model, long, { maxOutputTokens: 9_000 });
  expect([heard().at(-1), limits().at(-1)]).toEqual(["a b c d e", undefined]);
});

test("leaves out a token limit that alone is refused, and keeps the conversation whole", async () => {
  // Groq's error text.
  const words =
    "`max_completion_tokens` must be less than or equal to `16384`, the maximum value for `max_completion_tokens` is less than the `context_window` for this model";
  const { provider, model, heard } = await start(refusal(400, words), ok);
  expect((await readStep(model, long, { maxOutputTokens: 90_000 })).step).toMatchObject({
    text: "ok",
    shortened: false,
  });
  expect(heard()).toEqual(["a b c d e", "a b c d e"]);
  expect(provider.exchanges.map(({ body }) => body.max_tokens)).toEqual([90_000, undefined]);
});

test("keeps a conversation whole when an error only mentions its length", async () => {
  const words = "Unsupported parameter: 'temperature'; see the context length docs";
  const { model, heard } = await start(refusal(400, words), ok);
  expect((await readStep(model, long, { temperature: 1 })).step).toMatchObject({ text: "ok", shortened: false });
  expect(heard()).toEqual(["a b c d e", "a b c d e"]);
});

test("the refusal may come at the start of a stream", async () => {
  const words = "Trying to keep the first 5000 tokens, but the model is loaded with a context length of only 4096";
  const begin = event({ id: "c1", choices: [{ index: 0, delta: { role: "assistant" }, finish_reason: null }] });
  const error = `event: error\n${event({ error: { message: words } })}`;
  const { model, heard } = await start({ stream: [error] }, { stream: [begin, error, event("[DONE]")] }, ok);
  const { step: short } = await readStep(model, long);
  expect([short.text, short.shortened]).toEqual(["ok", true]);
  await readStep(model, long);
  expect(heard()).toEqual(["a b c d e", "c d e", "d e", "d e"]);

  const late = await start({ stream: [say("Half"), error] });
  const { step, error: failure } = await readStep(late.model, long);
  expect([step.text, step.shortened, failure]).toEqual(["Half", false, { message: words }]);
  expect(late.heard()).toHaveLength(1);
});

test("closes a reply that arrives after the call was cancelled", async () => {
  const held = Promise.withResolvers<void>();
  const { provider, model } = await start(
    { stream: [event({ error: { message: "context length" } })] },
    {
      stream: [held.promise],
    },
  );
  const reader = (await model.doStream({ prompt: long })).stream.getReader();
  await reader.read();
  const reading = reader.read();
  while (provider.exchanges.length < 2) await new Promise((resolve) => setImmediate(resolve));
  await reader.cancel();
  await reading;
  await provider.exchanges[1]?.closed;
});

test("keeps a conversation whole when the model refuses something else", async () => {
  const { model, heard } = await start(refusal(400, "No such tool in this context"));
  expect((await readStep(model, long)).error).toBeDefined();
  expect(heard()).toEqual(["a b c d e"]);
});
