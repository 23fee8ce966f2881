import type { EmbeddingModelV4 } from "@ai-sdk/provider";
import type { Embedding, ModelSpec } from "../../core/ports.ts";
import type { Fetch } from "./fetch.ts";
import { checkAddress, checkModel, requireKey, withVersion } from "./spec.ts";

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
  return { vectors: embeddings, tokens: usage?.tokens ?? 0 };
}

async function embeddingModel(spec: ModelSpec, fetch: Fetch): Promise<EmbeddingModelV4> {
  checkModel(spec);
  const apiKey = requireKey(spec);
  switch (spec.provider) {
    case "openai": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      const baseURL = withVersion(checkAddress(spec), "v1");
      return createOpenAI({ apiKey, baseURL, fetch }).embeddingModel(spec.model);
    }
    case "google": {
      const { createGoogle } = await import("@ai-sdk/google");
      const baseURL = withVersion(checkAddress(spec), "v1beta");
      return createGoogle({ apiKey, baseURL, fetch }).embeddingModel(spec.model);
    }
    case "mistral": {
      const { createMistral } = await import("@ai-sdk/mistral");
      const baseURL = withVersion(checkAddress(spec), "v1");
      return createMistral({ apiKey, baseURL, fetch }).embeddingModel(spec.model);
    }
    default:
      throw new Error(`The provider ${spec.provider} has no embedding model`);
  }
}
