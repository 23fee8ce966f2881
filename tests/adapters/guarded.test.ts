import { expect, test } from "vitest";
import { createModels } from "../../src/adapters/models/index.ts";
import { EgressError } from "../../src/core/egress/target.ts";
import type { ModelSpec } from "../../src/core/ports.ts";
import { done, event, say } from "../fake-provider.ts";
import { canary, internet } from "../node/internet.ts";
import { readStep } from "./read-step.ts";
import { specs } from "./recorded.ts";

const own = (baseUrl: string, allowedHosts: string[] = []): ModelSpec => ({
  ...specs["openai-compatible"],
  apiKey: "sk-own-0123456789",
  baseUrl,
  allowedHosts,
});
const never = new AbortController().signal;

test("connects to the checked public address of an agent's provider, and streams as it responds", async () => {
  const net = internet();
  const gate = Promise.withResolvers<void>();
  const url = await net.serve(async (_, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write(say("first ").join(""));
    await gate.promise;
    response.end([...say("second"), ...done()].join(""));
  });
  const model = await createModels({ guarded: net.guarded }).resolve(own(`${url}/v1`));
  const { step, error } = await readStep(model, "é".repeat(1_500_000), {
    onEvent: ({ type }) => type === "text-delta" && gate.resolve(),
  });
  expect(error).toBeUndefined();
  expect(step.text).toBe("first second");
  expect(net.dialled).toHaveLength(1);
  expect(net.asked[0]?.url).toBe("/v1/chat/completions");
  expect(net.asked[0]?.headers).toMatchObject({ authorization: "Bearer sk-own-0123456789" });
});

test("does not connect to a name with a private address, unless it is allowed", async () => {
  const inside = await canary();
  const net = internet({ "inside.test": ["127.0.0.1"], "half.test": ["93.184.215.14", "10.0.0.1"] });
  const models = createModels({ guarded: net.guarded });
  for (const host of ["inside.test", "half.test", "localhost", "127.0.0.1", "[::ffff:127.0.0.1]", "169.254.169.254"]) {
    const spec = own(`http://${host}:${inside.port}/v1`);
    const { error } = await readStep(await models.resolve(spec), "Hi");
    expect(error).toMatchObject({ message: "The provider cannot be reached", isRetryable: false });
    const embedding = models.embed?.({ ...spec, provider: "mistral", model: "mistral-embed" }, ["a"], never);
    await expect(embedding).rejects.toThrow("cannot be reached");
  }
  expect([net.dialled, inside.hits()]).toEqual([[], 0]);
  await readStep(await models.resolve(own(`http://inside.test:${inside.port}/v1`, ["inside.test"])), "Hi");
  expect(inside.hits()).toBe(1);
});

test("follows no redirect to a private address", async () => {
  const inside = await canary();
  const net = internet();
  const url = await net.serve((_, response) =>
    response.writeHead(307, { Location: `http://127.0.0.1:${inside.port}/` }).end(),
  );
  const { error } = await readStep(await createModels({ guarded: net.guarded }).resolve(own(url)), "Hi");
  expect(error).toMatchObject({ statusCode: 307 });
  expect([net.dialled.length, inside.hits()]).toEqual([1, 0]);
});

test("a runtime that can't check addresses connects to none that an agent names", async () => {
  const inside = await canary();
  const { error } = await readStep(await createModels().resolve(own(`http://127.0.0.1:${inside.port}`)), "Hi");
  expect(error).toMatchObject({ message: "The provider cannot be reached" });
  expect(inside.hits()).toBe(0);
});

test("a stopped call closes its connection", async () => {
  const net = internet();
  const closed = Promise.withResolvers<void>();
  const url = await net.serve((_, response) => {
    response.once("close", closed.resolve);
    response.writeHead(200, { "Content-Type": "text/event-stream" }).write(event({ choices: [] }));
  });
  const stop = new AbortController();
  const model = await createModels({ guarded: net.guarded }).resolve(own(url));
  const { stream } = await model.doStream({
    prompt: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
    abortSignal: stop.signal,
  });
  const reader = stream.getReader();
  await reader.read();
  const reading = reader.read();
  stop.abort();
  await expect(reading).rejects.toThrow();
  await closed.promise;
});

test("a server that never responds is abandoned with the reason of the stop, also for vectors", async () => {
  const net = internet();
  const url = await net.serve(() => {});
  const models = createModels({ guarded: net.guarded });
  const asks = [
    (signal: AbortSignal) => net.guarded([])(url, { signal }),
    async (signal: AbortSignal) => models.embed?.({ ...own(url), provider: "mistral", model: "m" }, ["a"], signal),
  ];
  for (const [index, ask] of asks.entries()) {
    const stop = new AbortController();
    const answer = ask(stop.signal).catch((error: unknown) => error);
    await expect.poll(() => net.asked.length).toBe(index + 1);
    const reason = new Error("It took too long");
    stop.abort(reason);
    expect(await answer).toBe(reason);
  }
});

test("sends a body unchanged, or refuses it", async () => {
  const net = internet();
  const url = await net.serve((_, response) => response.end());
  const fetch = net.guarded([]);
  for (const body of ["text", new TextEncoder().encode("bytes"), null]) await fetch(url, { method: "POST", body });
  expect(net.asked.map(({ body }) => body)).toEqual(["text", "bytes", ""]);
  for (const body of [new FormData(), new Blob(["x"]), new URLSearchParams("a=b")]) {
    await expect(fetch(url, { method: "POST", body })).rejects.toThrow("must be a text or bytes");
  }
  await expect(fetch(new Request(url, { method: "POST", body: "x" }))).rejects.toBeInstanceOf(EgressError);
  expect(net.asked).toHaveLength(3);
});

test.each([
  "../../key/generate?admin=1#",
  "a/../b",
  "a?b",
  "a#b",
  "a%2f..",
  "",
])("calls no provider for the model %j", async (model) => {
  const asked: string[] = [];
  const models = createModels({
    fetch: async (input) => {
      asked.push(String(input));
      return Response.json({});
    },
  });
  for (const spec of Object.values(specs)) {
    await expect(models.resolve({ ...spec, model })).rejects.toThrow("must have a name");
  }
  const embedding = models.embed?.({ ...specs.google, model }, ["a"], never);
  await expect(embedding).rejects.toThrow("must have a name");
  expect(asked).toEqual([]);
});
