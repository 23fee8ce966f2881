import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { ModelSpec } from "../../core/ports.ts";
import { apiKeySecret, baseUrlSecret } from "../../core/providers.ts";
import type { Fetch } from "./fetch.ts";

/** Any server that speaks chat completions, at the address of the spec; a key is optional. */
export async function openAiCompatible(spec: ModelSpec, fetch: Fetch): Promise<LanguageModelV4> {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const apiKey = checkKey(spec);
  const provider = createOpenAICompatible({
    name: "openaiCompatible",
    baseURL: checkAddress(spec),
    // Without it the stream ends without a count of tokens.
    includeUsage: true,
    fetch,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(isReasoningModel(spec.model) ? { transformRequestBody: renameTokenLimit } : {}),
  });
  return provider.chatModel(spec.model);
}

/** OpenAI's own service, over its responses API, which is asked to keep nothing. */
export async function openAi(spec: ModelSpec, fetch: Fetch): Promise<LanguageModelV4> {
  const { createOpenAI } = await import("@ai-sdk/openai");
  const apiKey = checkKey(spec);
  if (apiKey === undefined) throw new Error(`The provider openai has no key: set the secret ${apiKeySecret("openai")}`);
  // Given, so that the package does not look into the environment.
  const model = createOpenAI({ apiKey, baseURL: "https://api.openai.com/v1", fetch })(spec.model);
  const unstored = (options: LanguageModelV4CallOptions): LanguageModelV4CallOptions => ({
    ...options,
    providerOptions: { ...options.providerOptions, openai: { ...options.providerOptions?.openai, store: false } },
  });
  return {
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doStream: (options) => model.doStream(unstored(options)),
    doGenerate: (options) => model.doGenerate(unstored(options)),
  };
}

/** OpenAI's reasoning models, behind a gateway too, know the limit by its newer name only. */
function isReasoningModel(model: string): boolean {
  return /^(?:openai\/)?(?:o\d|gpt-5)/.test(model);
}

function renameTokenLimit({ max_tokens, ...body }: Record<string, unknown>): Record<string, unknown> {
  return max_tokens === undefined ? body : { ...body, max_completion_tokens: max_tokens };
}

function checkAddress({ provider, baseUrl }: ModelSpec): string {
  if (baseUrl === undefined) {
    throw new Error(`The provider ${provider} has no address: set the secret ${baseUrlSecret(provider)}`);
  }
  const url = URL.parse(baseUrl);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new Error(`The address of the provider ${provider} is no http URL`);
  // `fetch` refuses these, and would repeat the password in its message.
  if (url.username || url.password) throw new Error(`The address of the provider ${provider} must hold no password`);
  return baseUrl.replace(/\/+$/, "");
}

/** A key that fits no header would be refused by `fetch` with a message that repeats it. */
function checkKey({ provider, apiKey }: ModelSpec): string | undefined {
  const key = apiKey?.trim();
  if (!key) return undefined;
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new Error(`The key of the provider ${provider} holds characters that no key has`);
  return key;
}
