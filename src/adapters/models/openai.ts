import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { ModelSpec } from "../../core/ports.ts";
import { changeCalls, withProviderOptions } from "./adapt.ts";
import type { Fetch } from "./fetch.ts";
import { checkAddress, checkKey, requireKey, withVersion } from "./spec.ts";

/** Any server that speaks chat completions, at the address of the spec; a key is optional. */
export async function openAiCompatible(spec: ModelSpec, fetch: Fetch): Promise<LanguageModelV4> {
  return chatCompletions(spec, checkAddress(spec), fetch);
}

/**
 * Ollama, over its chat completions; its address may come with or without `/v1`. Its usual address, on this machine, is
 * not assumed: it is the operator's to name.
 */
export async function ollama(spec: ModelSpec, fetch: Fetch): Promise<LanguageModelV4> {
  return chatCompletions(spec, withVersion(checkAddress(spec), "v1"), fetch);
}

async function chatCompletions(spec: ModelSpec, baseURL: string, fetch: Fetch): Promise<LanguageModelV4> {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const apiKey = checkKey(spec);
  const provider = createOpenAICompatible({
    name: "openaiCompatible",
    baseURL,
    // Without this option the stream has no counts of tokens.
    includeUsage: true,
    fetch,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(isReasoningModel(spec.model) ? { transformRequestBody: renameTokenLimit } : {}),
  });
  return provider.chatModel(spec.model);
}

/** OpenAI's own service, over its responses API, with `store: false`, so that OpenAI stores no response. */
export async function openAi(spec: ModelSpec, fetch: Fetch): Promise<LanguageModelV4> {
  const apiKey = requireKey(spec);
  const { createOpenAI } = await import("@ai-sdk/openai");
  // Without `baseURL` the package would look into the environment.
  const model = createOpenAI({ apiKey, baseURL: withVersion(checkAddress(spec), "v1"), fetch })(spec.model);
  return changeCalls(model, (options) => withProviderOptions(options, "openai", { store: false }));
}

/** OpenAI's reasoning models, behind a gateway too, take the limit of tokens under its newer name only. */
function isReasoningModel(model: string): boolean {
  return /^(?:openai\/)?(?:o\d|gpt-(?:[5-9]|\d\d))/.test(model);
}

function renameTokenLimit({ max_tokens, ...body }: Record<string, unknown>): Record<string, unknown> {
  return max_tokens === undefined ? body : { ...body, max_completion_tokens: max_tokens };
}
