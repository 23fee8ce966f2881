import type { EmbeddingModelV4 } from "@ai-sdk/provider";
import type { Embedding, ModelSpec } from "../../core/ports.ts";
import { tokenCount } from "../../turn/usage.ts";
import type { Fetch } from "./fetch.ts";
import { checkAddress, checkKey, checkModel, requireKey, withVersion } from "./spec.ts";

/** Embeds at most 32 texts. Rejects with an `Error` for the log. */
export async function embed(
  spec: ModelSpec,
  texts: readonly string[],
  signal: AbortSignal,
  fetch: Fetch,
): Promise<Embedding> {
  const model = await embeddingModel(spec, fetch);
  const { embeddings, usage } = await model.doEmbed({ values: [...texts], abortSignal: signal });
  if (embeddings.length !== texts.length) throw new Error("The provider answered with another number of vectors");
  return { vectors: embeddings, tokens: tokenCount(usage?.tokens) };
}

async function embeddingModel(spec: ModelSpec, fetch: Fetch): Promise<EmbeddingModelV4> {
  checkModel(spec);
  switch (spec.provider) {
    case "openai": {
      const apiKey = requireKey(spec);
      const { createOpenAI } = await import("@ai-sdk/openai");
      const baseURL = withVersion(checkAddress(spec), "v1");
      return createOpenAI({ apiKey, baseURL, fetch }).embeddingModel(spec.model);
    }
    case "google": {
      const apiKey = requireKey(spec);
      const { createGoogle } = await import("@ai-sdk/google");
      const baseURL = withVersion(checkAddress(spec), "v1beta");
      return createGoogle({ apiKey, baseURL, fetch }).embeddingModel(spec.model);
    }
    case "mistral": {
      const apiKey = requireKey(spec);
      const { createMistral } = await import("@ai-sdk/mistral");
      const baseURL = withVersion(checkAddress(spec), "v1");
      return createMistral({ apiKey, baseURL, fetch }).embeddingModel(spec.model);
    }
    case "ollama":
      return compatible(spec, withVersion(checkAddress(spec), "v1"), fetch);
    case "openai-compatible":
      return compatible(spec, checkAddress(spec), fetch);
    default:
      throw new Error(`The provider ${spec.provider} has no embedding model`);
  }
}

/** Any server with OpenAI's `/embeddings`; a key is optional. */
async function compatible(spec: ModelSpec, baseURL: string, fetch: Fetch): Promise<EmbeddingModelV4> {
  const apiKey = checkKey(spec);
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const settings = { name: spec.provider, baseURL, fetch };
  return createOpenAICompatible(apiKey === undefined ? settings : { ...settings, apiKey }).embeddingModel(spec.model);
}
