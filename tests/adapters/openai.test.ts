import { expect, test } from "vitest";
import { createModels } from "../../src/adapters/models/index.ts";
import type { ModelSpec } from "../../src/core/ports.ts";
import { done, say, startFakeProvider } from "../fake-provider.ts";
import { readStep } from "./read-step.ts";

const ok = { stream: [say("ok"), done()] };

function spec(baseUrl: string | undefined, fields: Partial<ModelSpec> = {}): ModelSpec {
  return { provider: "openai-compatible", model: "llama", apiKey: undefined, baseUrl, ...fields };
}

test("sends a call to chat completions below the address, streamed, and requests token counts", async () => {
  const provider = await startFakeProvider(ok);
  const model = await createModels().resolve(spec(`${provider.url}//`, { apiKey: " key-1 " }));
  const { step } = await readStep(
    model,
    [
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "Hi" }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "Let me see." },
          { type: "tool-call", toolCallId: "c1", toolName: "clock", input: { zone: "UTC" } },
        ],
      },
      {
        role: "tool",
        content: [{ type: "tool-result", toolCallId: "c1", toolName: "clock", output: { type: "json", value: "12" } }],
      },
    ],
    {
      temperature: 0.3,
      maxOutputTokens: 50,
      reasoning: "medium",
      tools: [{ type: "function", name: "clock", description: "Tells the time", inputSchema: { type: "object" } }],
      toolChoice: { type: "auto" },
    },
  );

  expect(step).toMatchObject({ text: "ok", usage: { promptTokens: 1, completionTokens: 1 } });
  expect(provider.exchanges[0]).toMatchObject({
    path: "/v1/chat/completions",
    headers: { authorization: "Bearer key-1" },
    body: {
      model: "llama",
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0.3,
      max_tokens: 50,
      reasoning_effort: "medium",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: "Let me see.",
          tool_calls: [{ id: "c1", function: { arguments: '{"zone":"UTC"}' } }],
        },
        { role: "tool", tool_call_id: "c1", content: '"12"' },
      ],
      tools: [{ type: "function", function: { name: "clock" } }],
      tool_choice: "auto",
    },
  });
});

test("without a key no credential is sent", async () => {
  const provider = await startFakeProvider(ok);
  await readStep(await createModels().resolve(spec(provider.url)), "Hi");
  expect(provider.exchanges[0]?.headers.authorization).toBeUndefined();
});

test("openai with an address speaks chat completions, and its reasoning models get the newer name of the limit", async () => {
  const provider = await startFakeProvider(ok);
  const models = createModels();
  for (const model of ["gpt-5-mini", "gpt-4.1"]) {
    await readStep(await models.resolve(spec(provider.url, { provider: "openai", model })), "Hi", {
      maxOutputTokens: 9,
    });
  }
  const [reasoning, plain] = provider.exchanges.map(({ path, body }) => ({ path, ...body }));
  expect(reasoning).toMatchObject({ path: "/v1/chat/completions", max_completion_tokens: 9 });
  expect(reasoning).not.toHaveProperty("max_tokens");
  expect(plain).toMatchObject({ path: "/v1/chat/completions", max_tokens: 9 });
});

test("openai without an address uses the Responses API of OpenAI, with nothing stored there", async () => {
  const asked: { url: string; body: Record<string, unknown>; redirect: unknown }[] = [];
  const models = createModels({
    fetch: async (input, init) => {
      asked.push({ url: String(input), body: JSON.parse(String(init?.body)), redirect: init?.redirect });
      return new Response('{"error":{"message":"no"}}', { status: 400 });
    },
  });
  const model = await models.resolve(spec(undefined, { provider: "openai", model: "gpt-5-mini", apiKey: "sk-1" }));
  await readStep(model, "Hi");

  expect(asked).toMatchObject([
    { url: "https://api.openai.com/v1/responses", body: { store: false, stream: true }, redirect: "manual" },
  ]);
  expect(asked[0]?.body.include).toContain("reasoning.encrypted_content");
});

test.each([
  ["openai without a key", spec(undefined, { provider: "openai" }), "openai_api_key"],
  ["no address", spec(undefined), "openai_compatible_base_url"],
  ["an address that is none", spec("models.example/v1"), "an http or https address"],
  ["an address of another kind", spec("file:///etc/passwd"), "an http or https address"],
  ["a password in the address", spec("http://me:hunter22@models.example"), "must hold no password"],
  ["a key with a line break inside", spec("http://x", { apiKey: "hunter22\nx" }), "characters that no key has"],
])("%s is refused in words for the log, which repeat no secret", async (_what, wrong, words) => {
  const error = await createModels()
    .resolve(wrong)
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Error);
  expect(String(error)).toContain(words);
  expect(String(error)).not.toContain("hunter22");
});

test("caches a model by its spec, and makes a new one for another key", async () => {
  const models = createModels();
  const one = await models.resolve(spec("http://x", { apiKey: "a" }));
  expect(await models.resolve(spec("http://x", { apiKey: "a" }))).toBe(one);
  expect(await models.resolve(spec("http://x", { apiKey: "b" }))).not.toBe(one);
});

test("drops the least recently used of the cached models", async () => {
  const models = createModels();
  const used = await models.resolve(spec("http://x", { model: "used" }));
  const unused = await models.resolve(spec("http://x", { model: "unused" }));
  for (let index = 0; index < 499; index += 1) {
    await models.resolve(spec("http://x", { model: `m${index}` }));
    await models.resolve(spec("http://x", { model: "used" }));
  }
  expect(await models.resolve(spec("http://x", { model: "used" }))).toBe(used);
  expect(await models.resolve(spec("http://x", { model: "unused" }))).not.toBe(unused);
});
