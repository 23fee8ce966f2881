import { expect, test } from "vitest";
import { createModels } from "../../src/adapters/models/index.ts";
import type { ModelSpec } from "../../src/core/ports.ts";

const spec = (provider: ModelSpec["provider"], model: string): ModelSpec => ({
  provider,
  model,
  baseUrl: undefined,
  apiKey: "the-key",
});

const vectors = [
  [0.1, 0.2],
  [0.3, 0.4],
];
const openAi = {
  object: "list",
  data: vectors.map((embedding, index) => ({ object: "embedding", index, embedding })),
  model: "m",
  usage: { prompt_tokens: 5, total_tokens: 5 },
};
const google = { embeddings: vectors.map((values) => ({ values })) };

/** Answers every request, and keeps the requests. */
function answering(body: unknown) {
  const asked: { url: string; headers: Headers; body: string }[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    asked.push({ url: String(input), headers: new Headers(init?.headers), body: String(init?.body) });
    return Response.json(body);
  };
  return { asked, models: createModels({ fetch }) };
}

const never = new AbortController().signal;

test.each<[ModelSpec, unknown, string, string, number]>([
  [spec("openai", "text-embedding-3-small"), openAi, "https://api.openai.com/v1/embeddings", "authorization", 5],
  [spec("mistral", "mistral-embed"), openAi, "https://api.mistral.ai/v1/embeddings", "authorization", 5],
  [
    spec("google", "gemini-embedding-001"),
    google,
    "https://generativelanguage.googleapis.com/v1beta/models/gemini-embedding-001:batchEmbedContents",
    "x-goog-api-key",
    0,
  ],
  [
    { ...spec("ollama", "nomic-embed-text"), baseUrl: "http://ollama.internal:11434" },
    openAi,
    "http://ollama.internal:11434/v1/embeddings",
    "authorization",
    5,
  ],
  [
    { ...spec("openai-compatible", "bge-m3"), baseUrl: "https://models.example/api" },
    openAi,
    "https://models.example/api/embeddings",
    "authorization",
    5,
  ],
])("vectors by $provider", async (asked, body, url, header, tokens) => {
  const provider = answering(body);
  expect(await provider.models.embed?.(asked, ["one", "two"], never)).toEqual({ vectors, tokens });
  expect(provider.asked.map((request) => request.url)).toEqual([url]);
  expect(provider.asked[0]?.headers.get(header)).toContain("the-key");
  expect(provider.asked[0]?.body).toMatch(/one.*two/);
});

test.each([
  [-1_000_000, 0],
  [1.5, 2],
  [1e308, 1_000_000_000],
])("a provider's count of %d tokens is %d", async (counted, tokens) => {
  const { models } = answering({ ...openAi, usage: { prompt_tokens: counted, total_tokens: counted } });
  expect(await models.embed?.(spec("openai", "text-embedding-3-small"), ["one", "two"], never)).toMatchObject({
    tokens,
  });
});

test("servers of one's own need no key", async () => {
  const provider = answering(openAi);
  for (const name of ["ollama", "openai-compatible"] as const) {
    const local = { ...spec(name, "m"), baseUrl: "http://localhost:9/v1", apiKey: undefined };
    await provider.models.embed?.(local, ["one", "two"], never);
  }
  expect(provider.asked.map(({ headers }) => headers.get("authorization"))).toEqual([null, null]);
});

test("too few vectors, no key and a provider without such a model are errors", async () => {
  const { models } = answering(openAi);
  const embed = (asked: ModelSpec, texts: string[]) => models.embed?.(asked, texts, never);
  await expect(embed(spec("openai", "m"), ["one"])).rejects.toThrow("another number of vectors");
  await expect(embed({ ...spec("openai", "m"), apiKey: undefined }, ["one"])).rejects.toThrow("has no key");
  await expect(embed(spec("anthropic", "m"), ["one"])).rejects.toThrow("no embedding model");
});
