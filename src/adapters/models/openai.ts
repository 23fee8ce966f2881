import type { ModelSpec, StreamingModel } from "../../core/ports.ts";
import type { Fetch } from "./fetch.ts";
import type { Post } from "./post.ts";
import { checkAddress, checkKey, requireKey, withVersion } from "./spec.ts";

/** Any server with the chat-completions API, at the spec's address; a key is optional. */
export async function openAiCompatible(spec: ModelSpec, post: Post): Promise<StreamingModel> {
  return chatCompletions(spec, checkAddress(spec), post);
}

/**
 * Ollama, through its chat completions, with or without `/v1` in its address. The operator must set the address:
 * Ollama's usual one, on this machine, is not assumed.
 */
export async function ollama(spec: ModelSpec, post: Post): Promise<StreamingModel> {
  return chatCompletions(spec, withVersion(checkAddress(spec), "v1"), post);
}

async function chatCompletions(spec: ModelSpec, baseUrl: string, post: Post): Promise<StreamingModel> {
  const apiKey = checkKey(spec);
  const [{ chatModel }, { chatRequest }] = await Promise.all([import("./chat/model.ts"), import("./chat/request.ts")]);
  return chatModel({ baseUrl, apiKey, post, request: (call) => chatRequest(spec.model, call) });
}

/** OpenAI's own service, through its Responses API, with `store: false`, so that OpenAI stores no response. */
export async function openAi(spec: ModelSpec, fetch: Fetch): Promise<StreamingModel> {
  const apiKey = requireKey(spec);
  const { createOpenAI } = await import("@ai-sdk/openai");
  // If `baseURL` were missing, the package would read the environment.
  const model = createOpenAI({ apiKey, baseURL: withVersion(checkAddress(spec), "v1"), fetch })(spec.model);
  const providerOptions = { openai: { store: false } };
  return { doStream: (call) => model.doStream({ ...call, providerOptions }) };
}
