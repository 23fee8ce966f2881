import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { createModels } from "../../src/adapters/models/index.ts";
import { pooledPost } from "../../src/adapters/node/post/post.ts";
import { classifyFailure, isRetryable } from "../../src/turn/failure.ts";
import {
  callTool,
  done,
  drop,
  event,
  type FakeProvider,
  type Reply,
  refusal,
  say,
  startFakeProvider,
} from "../fake-provider.ts";
import { gate } from "../scripted-model.ts";
import { inWords, readStep } from "./read-step.ts";

const page = { "Content-Type": "text/html; charset=utf-8" };
const html = "<html><body>Please sign in</body></html>";
const json = { "Content-Type": "application/json" };

const failed = { code: "provider-failed", message: "Model provider error" };
const limited = { code: "rate-limited", message: "Model provider is rate limited" };
const late = { code: "provider-timeout", message: "Model provider timed out" };

type Case = [what: string, reply: Reply, failure: object, retryable: boolean, logged: string, produced?: boolean];

const cases: Case[] = [
  ["a 400", refusal(400, "context too long"), failed, false, "context too long"],
  ["a 401", refusal(401, "bad key"), failed, false, "bad key"],
  ["a 404 page", { status: 404, headers: page, body: html }, failed, false, "Please sign in"],
  ["a 429", refusal(429, "slow down", { "Retry-After": "7" }), { ...limited, retryAfterSeconds: 7 }, true, "slow down"],
  ["a 429 for want of money", refusal(429, "pay", {}, "insufficient_quota"), failed, false, "pay"],
  ["a 500 without a body", { status: 500 }, failed, true, "500"],
  ["a 503", refusal(503, "overloaded"), failed, true, "overloaded"],
  ["a 504", refusal(504, "upstream late"), late, true, "upstream late"],
  ["a redirect", { status: 302, headers: { Location: "http://127.0.0.1:1/" } }, failed, false, "302"],
  ["a page with 200", { status: 200, headers: page, body: html }, failed, false, "Please sign in"],
  ["an error body with 200", { status: 200, headers: json, body: '{"error":{"message":"no"}}' }, failed, false, "no"],
  ["a JSON body that is no completion", { status: 200, headers: json, body: '{"ok":1}' }, failed, false, "ok"],
  ["an empty stream", { stream: [] }, failed, false, "without a finish reason"],
  ["an error in the stream", { stream: [event({ error: { message: "boom" } })] }, failed, false, "boom"],
  [
    "a throttle in the stream",
    { stream: [event({ error: { message: "slow", type: "rate_limit_exceeded", code: null } })] },
    limited,
    true,
    "slow",
  ],
  ["a socket dropped before output", { stream: [": hello\n\n", drop] }, failed, true, ""],
  ["a chunk that is no JSON", { stream: [event('{"choices":[')] }, failed, false, "JSON"],
  ["a chunk of another shape", { stream: [event({ choices: ["pong"] }), done()] }, failed, false, "pong"],
  ["events that are no chunks", { stream: [event({ pong: true })] }, failed, false, "pong"],
  [
    "an error after output",
    { stream: [say("half"), event({ error: { message: "boom" } })] },
    failed,
    false,
    "boom",
    true,
  ],
  ["a socket dropped after output", { stream: [say("half"), drop] }, failed, true, "", true],
  ["bad JSON after output", { stream: [say("half"), event("{"), say("more"), done()] }, failed, false, "JSON", true],
  ["an end without a finish reason", { stream: [say("half")] }, failed, false, "without a finish reason", true],
  ["an end within a tool call", { stream: [callTool("c", "clock", '{"zo')] }, failed, false, "", true],
];

describe.each([
  ["fetch", createModels()],
  ["Node's client", createModels({ post: pooledPost() })],
])("over %s", (_way, models) => {
  const modelOf = ({ url }: Pick<FakeProvider, "url">) =>
    models.resolve({ provider: "openai-compatible", model: "m", baseUrl: url, apiKey: "sk-secret-key" });

  test.each(
    cases,
  )("%s is an error, never an empty reply", async (_what, reply, failure, retryable, logged, produced) => {
    const { step, error } = await readStep(await modelOf(await startFakeProvider(reply)), "Hi");

    expect(error).toBeDefined();
    expect(classifyFailure(error)).toMatchObject({ ...failure, cause: error });
    expect(isRetryable(error)).toBe(retryable);
    expect(step.produced).toBe(produced ?? false);
    expect(inWords(error)).toContain(logged);
    expect(inWords(error)).not.toContain("sk-secret-key");
  });

  test("follows no redirect, since the key is for this address only", async () => {
    const elsewhere = await startFakeProvider({ stream: [say("mine"), done()] });
    const provider = await startFakeProvider({
      status: 307,
      headers: { Location: `${elsewhere.url}/chat/completions` },
    });
    const { error } = await readStep(await modelOf(provider), "Hi");
    expect(error).toMatchObject({ statusCode: 307 });
    expect(elsewhere.exchanges).toHaveLength(0);
  });

  test("an unreachable provider is an error that may pass", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    await new Promise((resolve) => server.close(resolve));
    if (!address || typeof address === "string") throw new Error("No port");

    const { error } = await readStep(await modelOf({ url: `http://127.0.0.1:${address.port}/v1` }), "Hi");
    expect(classifyFailure(error)).toMatchObject(failed);
    expect(isRetryable(error)).toBe(true);
    expect(inWords(error)).toContain("ECONNREFUSED");
  });

  test("does not retry a failure: the engine decides about that", async () => {
    const provider = await startFakeProvider(refusal(503, "overloaded"), { stream: [say("late"), done()] });
    const model = await modelOf(provider);
    expect((await readStep(model, "Hi")).error).toMatchObject({ statusCode: 503 });
    expect((await readStep(model, "Hi")).step.text).toBe("late");
    expect(provider.exchanges).toHaveLength(2);
  });

  test("an abort while the provider has not answered closes the connection", async () => {
    const provider = await startFakeProvider("hang");
    const controller = new AbortController();
    const reading = readStep(await modelOf(provider), "Hi", { abortSignal: controller.signal });
    while (provider.exchanges.length === 0) await new Promise((resolve) => setImmediate(resolve));
    controller.abort("stop");
    expect((await reading).error).toBeDefined();
    await provider.exchanges[0]?.closed;
  });

  test("an abort in the silence of a stream closes the connection", async () => {
    const silence = gate();
    const provider = await startFakeProvider({ stream: [say("one"), silence.promise, done()] });
    const controller = new AbortController();
    const { step, error } = await readStep(await modelOf(provider), "Hi", {
      abortSignal: controller.signal,
      onEvent: () => controller.abort("stop"),
    });
    expect(step.text).toBe("one");
    expect(error).toBeDefined();
    await provider.exchanges[0]?.closed;
  });

  test("deltas arrive as the provider sends them, not at its end", async () => {
    const second = gate();
    const provider = await startFakeProvider({ stream: [say("one"), second.promise, say("two"), done()] });
    const seen: string[] = [];
    const { step } = await readStep(await modelOf(provider), "Hi", {
      onEvent: (output) => {
        if (output.type === "text-delta") seen.push(output.text);
        second.open();
      },
    });
    expect(seen).toEqual(["one", "two"]);
    expect(step.finish?.reason).toBe("stop");
  });
});

test("reads only the beginning of an error that never ends", async () => {
  const models = createModels({
    fetch: async () => {
      const body = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(30_000).fill(120)) });
      return new Response(body, { status: 500 });
    },
  });
  const spec = { provider: "openai-compatible", model: "m", baseUrl: "http://x", apiKey: undefined } as const;
  const { error } = await readStep(await models.resolve(spec), "Hi");
  expect(error).toMatchObject({ statusCode: 500, responseBody: "x".repeat(64_000) });
});
