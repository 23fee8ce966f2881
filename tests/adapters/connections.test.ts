import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { afterEach, expect, test, vi } from "vitest";
import { createModels } from "../../src/adapters/models/index.ts";
import { fetchOver, postOver } from "../../src/adapters/models/post.ts";
import type { ModelSpec } from "../../src/core/ports.ts";
import { readStep } from "./read-step.ts";
import { type RemoteProvider, recorded, specs } from "./recorded.ts";

afterEach(() => vi.unstubAllEnvs());

async function ask(name: RemoteProvider, spec: Partial<ModelSpec>, prompt: string | LanguageModelV4Prompt = "Hi") {
  const { fetch, requests } = await recorded(`${name}/answer.sse`);
  const model = await createModels({ fetch }).resolve({ ...specs[name], ...spec });
  const { error } = await readStep(model, prompt);
  expect(error).toBeUndefined();
  const [request] = requests;
  if (!request) throw new Error("Nothing was asked");
  return request;
}

test.each([
  ["anthropic", "https://proxy.example/claude", "https://proxy.example/claude/v1/messages"],
  ["anthropic", "https://proxy.example/claude/v1/", "https://proxy.example/claude/v1/messages"],
  ["mistral", "https://proxy.example", "https://proxy.example/v1/chat/completions"],
  ["mistral", "https://proxy.example/v1", "https://proxy.example/v1/chat/completions"],
  ["ollama", "http://gpu:11434", "http://gpu:11434/v1/chat/completions"],
  ["ollama", "http://gpu:11434/v1/", "http://gpu:11434/v1/chat/completions"],
  [
    "google",
    "https://proxy.example",
    "https://proxy.example/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
  ],
  [
    "google",
    "https://proxy.example/v1",
    "https://proxy.example/v1/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
  ],
] as const)("%s at %s is requested at %s", async (name, baseUrl, url) => {
  expect((await ask(name, { baseUrl })).url).toBe(url);
});

test.each([
  ["openai", "authorization", "Bearer sk-own"],
  ["anthropic", "x-api-key", "sk-own"],
  ["google", "x-goog-api-key", "sk-own"],
  ["mistral", "authorization", "Bearer sk-own"],
  ["ollama", "authorization", "Bearer sk-own"],
  ["openai-compatible", "authorization", "Bearer sk-own"],
] as const)("%s uses the key and the address of its spec, whatever the environment contains", async (name, header, value) => {
  for (const variable of ["OPENAI", "ANTHROPIC", "MISTRAL", "GOOGLE_GENERATIVE_AI", "OLLAMA"]) {
    vi.stubEnv(`${variable}_API_KEY`, "sk-environment");
    vi.stubEnv(`${variable}_AUTH_TOKEN`, "sk-environment");
    vi.stubEnv(`${variable}_BASE_URL`, "https://elsewhere.example/v1");
  }
  const { url, headers } = await ask(name, { apiKey: " sk-own\n" });
  expect(headers.get(header)).toBe(value);
  expect(JSON.stringify([...headers])).not.toContain("sk-environment");
  expect(url).not.toContain("elsewhere");
});

test.each([
  "openai",
  "anthropic",
  "google",
  "mistral",
] as const)("%s without a key is refused with a text for the log", async (name) => {
  vi.stubEnv("ANTHROPIC_API_KEY", "sk-environment");
  const resolving = createModels().resolve({ ...specs[name], apiKey: "  " });
  await expect(resolving).rejects.toThrow(`The provider ${name} has no key: set the secret ${name}_api_key`);
});

test.each([
  ["models.example", "must be an http or https address"],
  ["ftp://models.example", "must be an http or https address"],
  ["https://me:hunter22@models.example", "must hold no password"],
  ["https://models.example/v1?key=hunter22", "must end with its path, without ? and #"],
  ["https://models.example/v1/chat/completions", "must end before /chat/completions, which is added to it"],
])("no provider takes the address %s", async (baseUrl, words) => {
  for (const name of ["anthropic", "google", "mistral", "ollama", "openai-compatible"] as const) {
    const error: unknown = await createModels()
      .resolve({ ...specs[name], baseUrl })
      .catch((reason: unknown) => reason);
    expect(String(error)).toContain(`The address of the provider ${name} ${words}`);
    expect(String(error)).not.toContain("hunter22");
  }
});

test.each([
  ["slashes", `${"/".repeat(60_000)}a`],
  ["digits", `v${"1".repeat(60_000)}!`],
])("an address with many %s is refused before a pattern goes through it", async (_label, path) => {
  const resolving = createModels().resolve({ ...specs.anthropic, baseUrl: `https://models.example/${path}` });
  await expect(resolving).rejects.toThrow("must be at most 2048 characters long");
});

const foreign = "functions.currentTime:0";

/** A conversation that another provider began. */
const inherited: LanguageModelV4Prompt = [
  { role: "user", content: [{ type: "text", text: "What time is it?" }] },
  {
    role: "assistant",
    content: [{ type: "tool-call", toolCallId: foreign, toolName: "currentTime", input: {} }],
  },
  {
    role: "tool",
    content: [
      { type: "tool-result", toolCallId: foreign, toolName: "currentTime", output: { type: "json", value: "12" } },
    ],
  },
  { role: "assistant", content: [{ type: "text", text: "Noon." }] },
  { role: "user", content: [{ type: "text", text: "And now?" }] },
];

test.each([
  ["anthropic", /^[a-zA-Z0-9_-]+$/, /"(?:id|tool_use_id)":"([^"]+)"/g],
  ["mistral", /^[a-zA-Z0-9]{9}$/, /"(?:id|tool_call_id)":"([^"]+)"/g],
] as const)("%s gets the ids of another provider's calls in its own form", async (name, form, place) => {
  const { body } = await ask(name, {}, inherited);
  const ids = [...JSON.stringify(body.messages).matchAll(place)].map(([, id]) => id);
  expect(ids).toHaveLength(2);
  expect(ids[0]).toMatch(form);
  expect(ids[1]).toBe(ids[0]);
});

test.each([
  "anthropic",
  "google",
  "mistral",
  "ollama",
  "openai",
  "openai-compatible",
] as const)("%s is requested by the runtime's post, which has no time limits of its own", async (name) => {
  vi.stubGlobal("fetch", () => Promise.reject(new Error("The runtime's own fetch was used")));
  try {
    const { fetch, requests } = await recorded(`${name}/answer.sse`);
    const model = await createModels({ post: postOver(fetch) }).resolve(specs[name]);
    const { step, error } = await readStep(model, "Hi");
    expect(error).toBeUndefined();
    expect(step.text).toContain("Zürich");
    expect(requests).toHaveLength(1);
  } finally {
    vi.unstubAllGlobals();
  }
});

test("accepts a response without a body, also from a post", async () => {
  const empty = fetchOver(async () => ({
    status: 204,
    headers: { "x-a": "b" },
    body: { read: async () => ({ done: true, value: undefined }), cancel: async () => {} },
  }));
  const answer = await empty("https://models.example", { method: "POST", body: "{}" });
  expect([answer.status, answer.headers.get("x-a"), answer.body]).toEqual([204, "b", null]);
});
