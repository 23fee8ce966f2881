import { readFile } from "node:fs/promises";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { createModels } from "../../src/adapters/models/index.ts";
import { pooledPost } from "../../src/adapters/node/post/post.ts";
import { done, drop, event, type Reply, say, startFakeProvider } from "../fake-provider.ts";
import { answering, ours } from "./chat-oracle.ts";
import { brokenShapes, chunk, clientShapes, compatibleShapes, shapes, stop } from "./chat-shapes.ts";
import { inWords, readStep } from "./read-step.ts";
import { specs } from "./recorded.ts";
import { modelAt } from "./wires.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

type Fetch = typeof globalThis.fetch;

interface Read {
  text: string;
  calls: { name: string; args: unknown }[];
}

/** The reply as the engine reads it; the error where it finds the stream broken. */
async function read(fetch: Fetch): Promise<Read | string> {
  const { step, error } = await readStep(await ours("openai-compatible", fetch), "Hi");
  if (error !== undefined) return inWords(error);
  return { text: step.text, calls: step.calls.map(({ name, args }) => ({ name, args })) };
}

/** The reply as OpenAI's own client reads it, put together as its documentation says. */
async function official(fetch: Fetch): Promise<Read | "thrown"> {
  const client = new OpenAI({ apiKey: "sk-test", baseURL: "https://models.example/v1", maxRetries: 0, fetch });
  let text = "";
  const calls = new Map<number, { name: string; args: string }>();
  try {
    const stream = await client.chat.completions.create({ model: "m", messages: [], stream: true });
    for await (const { choices } of stream) {
      // A client may get a message in place of a delta, too.
      const { delta, message } = (choices?.[0] ?? {}) as { delta?: Delta; message?: Delta };
      const { content, tool_calls = [] } = delta ?? (text === "" ? message : undefined) ?? {};
      if (typeof content === "string") text += content;
      for (const piece of tool_calls ?? []) {
        const call = calls.get(piece.index) ?? { name: "", args: "" };
        call.name += piece.function?.name ?? "";
        call.args += piece.function?.arguments ?? "";
        calls.set(piece.index, call);
      }
    }
    return { text, calls: [...calls.values()].map(({ name, args }) => ({ name, args: JSON.parse(args || "{}") })) };
  } catch {
    return "thrown";
  }
}

type Delta = Partial<OpenAI.ChatCompletionChunk.Choice.Delta>;

/** Shapes for which the engine reads less than the client, or joins the parts differently. */
const apart: Record<string, string> = {
  nothing: "a broken connection is no empty reply",
  "calls without an index": "the client leaves them to its caller",
  "calls that share an index and an id": "the same",
  "a call that repeats its name and id": "the same",
  "a refusal": "the engine shows it as text",
  "thoughts as parts": "the client has no texts in lists",
  "a call that never has a name": "it can't be made",
  "an end within an event": "all that was said is there: only what follows it was cut off",
};

const recordings = ["answer", "text", "parallel-tools", "deepseek-reasoning"].map(
  (file) => `openai-compatible/${file}`,
);
const payloads: [what: string, text: string][] = Object.entries({ ...shapes, ...compatibleShapes, ...clientShapes });
for (const name of [...recordings, "ollama/answer", "ollama/tool"]) {
  payloads.push([name, await readFile(new URL(`../fixtures/providers/${name}.sse`, import.meta.url), "utf8")]);
}

test.each(payloads.filter(([what]) => !(what in apart)))("%s: read as OpenAI's client reads it", async (_, text) => {
  const fetch = answering([bytes(text)]);
  const expected = await official(fetch);
  const own = await read(fetch);
  expect(typeof own === "string" ? "thrown" : own).toEqual(expected);
});

test.each(Object.entries(brokenShapes))("%s: all that was said is read", async (_, { text, calls = [], stream }) => {
  for (const size of [1, 7, stream.length]) {
    const whole = bytes(stream);
    const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
      whole.subarray(at * size, (at + 1) * size),
    );
    expect(await read(answering(pieces))).toEqual({ text, calls });
  }
});

test("an event that is named an error is one, as for OpenAI's client", async () => {
  const fetch = answering([
    bytes(`${chunk({ content: "Hi" })}event: error\ndata: {"message":"overloaded"}\n\n${stop}`),
  ]);
  expect(await official(fetch)).toBe("thrown");
  expect(await read(fetch)).toContain("overloaded");
});

test("an event that is named otherwise is an error where its JSON is broken", async () => {
  const fetch = answering([bytes(`event: chunk\ndata: {"choices":[\n\n${stop}`)]);
  expect(await read(fetch)).toContain("no valid JSON");
});

test("events that are no chunks are logged when a stream ends too early", async () => {
  expect(await read(answering([bytes(event({ detail: "no room" }))]))).toContain("no room");
});

test("an event that is no JSON is an error even when a single newline separates it", async () => {
  const lines = [chunk({ content: "Hi" }), 'data: {"choices":[\n\n', stop];
  const broken = `${lines.join("").replaceAll("\n\n", "\n")}\n`;
  expect(await read(answering([bytes(broken)]))).toContain("no valid JSON");
});

describe("one JSON body instead of a stream", () => {
  const body = (value: object | string, headers: Record<string, string>): Fetch => {
    const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
    return async () => new Response(text, { headers });
  };
  const message = { role: "assistant", content: "Hi", reasoning_content: "Hm" };
  const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };

  test.each(["application/json", "text/event-stream", "text/plain"])("%s is read by its beginning", async (type) => {
    const whole = body(
      { object: "chat.completion", choices: [{ index: 0, message }], usage },
      { "Content-Type": type },
    );
    const { step, error } = await readStep(await ours("openai-compatible", whole), "Hi");
    expect(error).toBeUndefined();
    expect(step).toMatchObject({ text: "Hi", reasoning: "Hm", usage: { promptTokens: 7, completionTokens: 5 } });

    expect(await read(body(chunk({ content: "Hi" }) + stop, { "Content-Type": type }))).toEqual({
      text: "Hi",
      calls: [],
    });
  });

  test("tells calls apart, whatever their ids are", async () => {
    const call = (args: string) => ({ id: "call_0", type: "function", function: { name: "clock", arguments: args } });
    const calls = [call("{}"), call('{"zone":"UTC"}'), call("")];
    const whole = body(
      { choices: [{ message: { content: null, tool_calls: calls }, finish_reason: "tool_calls" }] },
      {},
    );
    const args = [{}, { zone: "UTC" }, {}];
    expect(await read(whole)).toEqual({ text: "", calls: args.map((args) => ({ name: "clock", args })) });
  });

  test.each([
    ["an error", { error: { message: "no room" } }, "no room"],
    ["Mistral's error", { object: "error", message: "no room" }, "no room"],
    ["another object", { detail: "no room" }, "no room"],
    ["a list", "[1]", "no chat completion"],
    ["a body that was cut off", '{"choices":[', "no chat completion"],
    ["a message of another shape", { choices: [{ message: "Hi" }] }, "message is an object"],
  ])("%s is a failure", async (_, value, words) => {
    expect(await read(body(value, { "Content-Type": "application/json" }))).toContain(words);
  });

  test("a body that never ends fails, whatever blanks it contains", async () => {
    let sent = 0;
    const endless: Fetch = async () =>
      new Response(
        new ReadableStream<Uint8Array>({
          pull(controller) {
            controller.enqueue(bytes(sent === 0 ? "{" : "\n\n".repeat(50_000)));
            sent += 1;
          },
        }),
      );
    expect(await read(endless)).toContain("8388608 characters in one body");
    expect(sent).toBeLessThan(100);
  });
});

describe("[DONE] ends a reply, whatever happens to the connection afterwards", () => {
  const never = new Promise<never>(() => {});
  const endings: [string, Reply & { stream: unknown }][] = [
    ["stays open", { stream: [say("Hi"), done(), never] }],
    ["breaks", { stream: [say("Hi"), done(), drop] }],
    ["goes on", { stream: [say("Hi"), done(), event({ summary: {} }), "data: {", drop] }],
  ];

  test.each(endings)("it %s", async (_, reply) => {
    const provider = await startFakeProvider(reply);
    const { step, error } = await readStep(await modelAt("openai-compatible", provider.url), "Hi");
    expect(error).toBeUndefined();
    expect(step).toMatchObject({ text: "Hi", finish: { reason: "stop" } });
    // A stream that stays open is closed.
    await provider.exchanges[0]?.closed;
  });

  test("a connection whose response ends late still serves the next call", async () => {
    const later = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const post = pooledPost();
    const models = createModels({
      async post(url, posted) {
        const { body, ...answer } = await post(url, posted);
        if (!body) throw new Error("The answer has no body");
        const read = async () => {
          const piece = await body.read();
          if (piece.done) ended.resolve();
          return piece;
        };
        return { ...answer, body: { read, cancel: () => body.cancel() } };
      },
    });
    const provider = await startFakeProvider({ stream: [say("Hi"), done(), later.promise] });
    const own = await models.resolve({ ...specs["openai-compatible"], baseUrl: provider.url });
    expect((await readStep(own, "Hi")).step.text).toBe("Hi");
    later.resolve();
    await ended.promise;
    await readStep(own, "Hi");
    expect(provider.exchanges.map(({ port }) => port)).toEqual(Array(2).fill(provider.exchanges[0]?.port));
  });
});
